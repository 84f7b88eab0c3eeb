-- What all processes that share a key agree on, in one step that nothing can come between. Times are microseconds of the server's
-- clock; `now` is set before the laws of laws.lua, which come before this.
--
-- KEYS[1]  hash: the state of the budgets, field "t1" being field t of the first one
-- KEYS[2]  sorted set: the processes, by when they were last seen
-- ARGV     what script.go lists, in that order

local arg = 0
local function word()
  arg = arg + 1
  return ARGV[arg]
end
local function number() return tonumber(word()) end

local S = {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  S[flat[i]] = flat[i + 1]
end

-- Where the server's clock is put back, or another server with another clock takes over, time goes on from where it was.
local ahead = math.max(tonumber(S.ahead or 0), tonumber(S.clock or now) - now)
now = now + ahead

-- The policies of a text, and their shape: what must be the same in all processes.
local function parse(declared)
  local all, shape = {}, ''
  for kind, unit, limit, window, burst, phase in string.gmatch(declared, '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+);') do
    local p = {
      kind = kind, limit = tonumber(limit), window = tonumber(window), burst = tonumber(burst), phase = tonumber(phase),
    }
    p.rate, p.phase = p.limit / p.window, p.phase + ahead -- windows begin where the clock says
    all[#all + 1] = setmetatable(p, { __index = laws[kind] })
    shape = shape .. kind .. ' ' .. unit .. ';'
  end
  return all, shape
end

local declared, opens, known, nonce = word(), word() == '1', word(), word()
local remembers, away = word() == '1', number()
local me, seen = word(), number()
local count, life, guard, horizon = number(), number(), number(), number()
local expires, fair = number(), number()
local quietTime, hold, age = number(), number(), number()
local resumes = number()

-- Whose limits count: those of who opened last.
local fresh = not S.epoch
local epoch = S.epoch or nonce
local policies, shape = parse(declared)
local theirs = S.declared or declared
if theirs ~= declared then
  local their, form = parse(theirs)
  if form ~= shape then
    if not opens then
      return { 'shape', theirs }
    end
    S, fresh, epoch = { hold = S.hold, changed = S.changed }, true, nonce
    remembers = true
  elseif not opens then
    policies = their
  end
end
if opens then
  theirs = declared
end

local late = expires > 0 and now > expires -- it lay somewhere while nobody was served, and nobody waits for slots any more

local lost = remembers and (fresh or known ~= '' and known ~= epoch)
local held, changed = tonumber(S.hold or 0), tonumber(S.changed or 0)
local ends = resumes > 0 and held > now and changed <= resumes

-- The state of the i-th policy, as it was stored.
local function load(i, p)
  p.late, p.guard = life, math.min(guard, p.window / 100)
  for _, f in ipairs(p.fields) do
    p[f] = S[f .. i]
    if f ~= 'log' then
      p[f] = tonumber(p[f])
    end
  end
  if p.load then
    p.load(p)
  end
end

-- What a policy has to know of the time before this ask: that it was forgotten, that calls left without asking, what was given back.
local function settle(p, back, own, remembered, trail)
  if lost then
    if fresh or p.roll then
      p.empty(p, now, remembered, trail)
    elseif p.load then
      p.away(p, own)
    end
  elseif away > 0 then
    p.away(p, own)
  end
  if ends and p.resume then
    p.resume(p, held)
  end
  if back > 0 and known == epoch then
    p.give(p, back, now - age)
  elseif back < 0 then
    p.take(p, now, now, -back)
  end
end

local need, more = {}, {}
for i, p in ipairs(policies) do
  load(i, p)
  need[i], more[i] = number(), number()
  settle(p, number(), word(), number(), word())
end

local function emptyBuckets(at)
  for _, p in ipairs(policies) do
    if laws[p.kind] == bucket then
      p.empty(p, at)
    end
  end
end

-- When everybody was away, they come back one by one. Until the last can have, those who are back go on as they did meanwhile: no slot lies
-- before `quiet`.
local quiet = tonumber(S.quiet or 0)
if quietTime > 0 and (lost and fresh or away > 0 and now - tonumber(S.seen or 0) >= 0.9 * away) then
  quiet = now + quietTime
  emptyBuckets(quiet)
end

-- A hold is only ever extended, until somebody ends it. What a bucket holds at its end is nothing: a refusal has shown that. `changed` is
-- when that was last said, negative if it was that nothing is held any more. Slots of another epoch are void.
local function say()
  redis.pcall('PUBLISH', KEYS[1], text(changed) .. ' ' .. text(math.max(0, held - now)) .. ' ' .. epoch)
end
if lost and fresh then
  say()
end
if ends then
  held, changed = 0, -now
  say()
end
if now + hold > held and hold > 0 then
  held, changed = now + hold, now
  emptyBuckets(held)
  say()
end

-- The earliest moment for units of all policies; nil if one of them can never hold them.
local function earliest(units)
  local at = math.max(now, held, quiet)
  for i, p in ipairs(policies) do
    if units[i] > p.most(p) * slack then
      return nil
    elseif units[i] > 0 then
      at = math.max(at, p.at(p, units[i]))
    end
  end
  for i, p in ipairs(policies) do
    if units[i] > 0 and p.reach then
      at = p.reach(p, at)
    end
  end
  return at
end

-- Takes units of all policies for a moment between `at` and the one that it returns.
local function take(at, units)
  local till = at + life
  for i, p in ipairs(policies) do
    if units[i] > 0 and p.till then
      till = p.till(p, at, till)
    end
  end
  for i, p in ipairs(policies) do
    if units[i] > 0 then
      p.take(p, at, till, units[i])
    end
  end
  return till
end

-- Whoever wants many slots gets its fair part, `fair`, times a factor that is the same for all: so large that what is handed out ahead
-- lasts for `aim`. Whoever wants less gets that, and leaves room to the others. Beyond their part nobody gets slots further ahead.
local aim, settles = 640000, 800000 -- what is handed out ahead, and how fast the factor follows
local factor, wanted = tonumber(S.factor or 1), late and 0 or count
local granted = wanted
if fair > 0 then
  granted = math.min(wanted, math.max(1, math.floor(fair * factor + 0.5)))
end

-- The slots, and how far ahead the first one is, or how long it would take until there is one within the horizon; -1 for ever.
local function lease()
  local slots, lead = {}, 0
  for j = 1, granted do
    local units = j == 1 and need or more
    local at = earliest(units)
    if j == 1 and not (at and at - now <= horizon) then
      return slots, 0, at and at - now or -1
    elseif not at or at - now > horizon or fair > 0 and j > math.max(1, fair) and at - now > aim then
      break
    end
    local till = take(at, units)
    lead = j == 1 and at - now or lead
    slots[#slots + 1] = text(at - now)
    slots[#slots + 1] = text(till - now)
  end
  return slots, lead, 0
end

local slots, lead, wait = lease()
local shared = fair > 0 and #slots > 0

-- How long ago something was last done, at the most a second.
local function since(at) return math.min(1000000, now - tonumber(at or now)) end

if shared and (wanted > granted or lead > aim) then
  factor = math.max(1, math.min(1000, factor * (aim / math.max(lead, aim / 16)) ^ (since(S.adapted) / settles)))
  S.adapted, S.factor = text(now), text(factor)
end

-- What waits here may as well wait in the processes, for others to ask along with: so long that no more than `margin` is handed out ahead.
-- If nothing is, somebody may be late, and the time soon shrinks.
local margin, follows, shrinks = 100000, 500000, 400000
local linger = tonumber(S.linger or 0)
if shared then
  if lead > 0 then
    linger = math.max(0, math.min(800000, linger + (lead - margin) * since(S.paced) / follows))
  else
    linger = linger * math.exp(-since(S.paced) / shrinks)
  end
  S.paced, S.linger = text(now), text(linger)
end

-- What a policy looks like now: what is used, what is free, how long until one more is, what there can ever be, and how long ago what is used was
-- taken.
local function look(p)
  local used = p.used(p)
  local free = math.min(p.most(p), math.max(0, p.free(p, used)))
  local nextAt = used > 0 and p.at(p, math.min(p.most(p), math.floor(free) + 1)) or 0
  local spent = used > 0 and p.spent(p) or {}
  for i, x in ipairs(spent) do
    spent[i] = text(i % 2 == 1 and now - x or x)
  end
  return text(used), text(free), text(math.max(0, nextAt - now)), text(p.most(p)), spent
end

local out = { 'epoch', epoch, 'declared', theirs, 'clock', text(now), 'seen', late and S.seen or text(now), 'quiet', text(quiet) }
local function keep(field, value)
  if value then
    out[#out + 1] = field
    out[#out + 1] = value
  end
end

local ttl, sights = math.max(0, held - now), {}
for i, p in ipairs(policies) do
  sights[i] = { look(p) }
  ttl = math.max(ttl, p.life(p))
  for _, f in ipairs(p.fields) do
    if f == 'log' then
      keep(f .. i, p.text(p))
    else
      keep(f .. i, p[f] and text(p[f]))
    end
  end
end
for _, f in ipairs({ 'factor', 'adapted', 'linger', 'paced' }) do
  keep(f, S[f])
end
keep('ahead', ahead > 0 and text(ahead))
keep('changed', changed ~= 0 and text(changed))
keep('hold', changed ~= 0 and text(held))

-- A tenth and a second more than it takes to be full again, so that a key that is gone has nothing to tell; a century at the most, as Redis
-- has its bounds.
ttl = math.min(ttl * 1.1 + 1000000, 100 * 366 * 24 * 3600000000)
local function expire(key) redis.call('PEXPIRE', key, string.format('%.0f', ttl / 1000)) end

if not S.epoch then
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], unpack(out))
expire(KEYS[1])
if seen > 0 then
  redis.call('ZADD', KEYS[2], text(now), me)
else
  redis.call('ZREM', KEYS[2], me)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - math.abs(seen)))
expire(KEYS[2])

return {
  'ok', epoch, theirs == declared and '' or theirs, text(now), redis.call('ZCARD', KEYS[2]), text(ttl),
  text(math.max(0, held - now)), text(changed), text(math.max(0, quiet - now)), text(linger), text(wait), slots, sights,
}
