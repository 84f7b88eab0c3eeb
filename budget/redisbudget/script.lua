-- What all processes that share a key agree on, in one step that nothing can come between. Times are microseconds of the server's
-- clock; `now` is set by the line before this one.
--
-- KEYS[1]  hash: the state of the budgets, field "t1" being field t of the first one
-- KEYS[2]  sorted set: the processes, by when they were last seen
-- ARGV     what script.go lists, in that order

local slack = 1 + 2 ^ -50 -- as in package budget: what a limit may be exceeded by, relatively

local function text(x) return string.format('%.17g', x) end

local arg = 0
local function word()
  arg = arg + 1
  return ARGV[arg]
end
local function number() return tonumber(word()) end

-- Buckets: t is when the bucket is full (a leaky one: empty), since is when it last was full as something was taken, last is when
-- something was last taken.
local bucket = { fields = { 't', 'since', 'last' } }

function bucket.holds(p, n) return p.kind == 'leaky-bucket' and n or p.burst end

function bucket.most(p) return p.kind == 'leaky-bucket' and p.limit or p.burst end

function bucket.at(p, n) return p.t and p.t + (n - p.holds(p, n)) / p.rate or 0 end

-- What may be spent until `till` counts as spent then, but no later than costs nothing of the rate.
function bucket.take(p, at, till, n)
  local from = math.max(at, math.min(till, at + (p.holds(p, n) - n) / p.rate))
  if not p.t or p.t <= from then
    p.t, p.since = from, at
  end
  p.t, p.last = p.t + n / p.rate, at
end

-- Units taken before the bucket was last full are not given back: time has done so already. A leaky bucket gives back the latest only.
function bucket.give(p, n, taken)
  if not p.t then
    return
  end
  if p.kind ~= 'leaky-bucket' then
    if p.since <= taken then
      p.t = p.t - n / p.rate
    end
  elseif taken >= p.last then
    p.t = math.max(p.last, p.t - n / p.rate)
  end
end

function bucket.empty(p, at)
  local t = at + bucket.holds(p, 1) / p.rate
  if not p.t or p.t < t then
    p.t, p.since, p.last = t, at, at
  end
end

function bucket.away(p, n, from) bucket.empty(p, now) end

function bucket.used(p) return p.t and math.max(0, p.t - now) * p.rate or 0 end

function bucket.free(p, used)
  if p.kind == 'leaky-bucket' and used > 0 then
    return 0
  end
  return bucket.most(p) - used
end

function bucket.life(p) return math.max(bucket.most(p) / p.rate, (p.t or now) - now) end

-- Windows of the clock: w is where the current one begins, cur and prev what was counted in it and in the one before. Slots that
-- are handed out ahead may lie in a window to come; then that is the current one.
local frame = { fields = { 'w', 'cur', 'prev' } }

function frame.roll(p, t)
  if p.w and t < p.w + p.window then
    return
  end
  p.prev = p.w and t < p.w + 2 * p.window and p.cur or 0
  p.cur = 0
  p.w = math.floor((t - p.phase) / p.window) * p.window + p.phase
end

function frame.most(p) return p.limit end

function frame.faded(p, n, room) return (1 - math.max(0, room) / n) * p.window end

function frame.at(p, n)
  local room = p.limit * slack - n
  local sliding = p.kind == 'sliding-counter'
  if not p.w then
    return 0
  elseif p.cur > room then
    return p.w + p.window + (sliding and frame.faded(p, p.cur, p.limit - n) or 0)
  elseif sliding and p.prev > room - p.cur then
    return p.w + frame.faded(p, p.prev, p.limit - n - p.cur)
  end
  return p.w
end

function frame.take(p, at, till, n)
  frame.roll(p, at)
  p.cur = p.cur + n
end

-- A slot ends with its window.
function frame.till(p, at, till)
  local w = p.w
  if not w or at >= w + p.window then
    w = math.floor((at - p.phase) / p.window) * p.window + p.phase
  end
  return math.min(till, w + p.window - 1)
end

function frame.give(p, n, taken)
  frame.roll(p, now)
  if taken >= p.w then
    local off = math.min(n, p.cur)
    p.cur, n = p.cur - off, n - off
  end
  if taken >= p.w - p.window then
    p.prev = math.max(0, p.prev - n)
  end
end

-- What is gone counts as a process remembers it.
function frame.empty(p, at, remembered)
  frame.roll(p, at)
  p.cur = math.max(p.cur, math.min(p.limit, remembered))
end

function frame.away(p, n, from)
  frame.roll(p, now)
  p.cur = p.cur + n * math.min(1, (now - p.w) / math.max(1, now - from))
end

function frame.used(p)
  if not p.w then
    return 0
  end
  frame.roll(p, now)
  if p.kind ~= 'sliding-counter' then
    return p.cur
  end
  return p.cur + p.prev * math.min(1, 1 - (now - p.w) / p.window)
end

function frame.free(p, used) return p.limit - used end

function frame.life(p)
  local span = p.kind == 'sliding-counter' and 2 * p.window or p.window
  return math.max(span, (p.w or now) + span - now)
end

-- A log: log is a list of {at, n}, oldest first. Beyond `exact` entries those of the same part of the window are merged into the latest
-- of them, so that units leave the log late by at most 1/256 of the window, never early.
local log = { fields = { 'log' } }
local exact, parts = 512, 256

function log.load(p)
  local all = {}
  for at, n in string.gmatch(p.log or '', '(%S+) (%S+)') do
    at, n = tonumber(at), tonumber(n)
    if at > now - p.window then
      all[#all + 1] = { at, n }
    end
  end
  p.log = all
end

function log.text(p)
  local words = {}
  for _, e in ipairs(p.log) do
    if e[2] > 0 then
      words[#words + 1] = text(e[1]) .. ' ' .. text(e[2])
    end
  end
  return table.concat(words, ' ')
end

function log.total(p)
  local sum = 0
  for _, e in ipairs(p.log) do
    sum = sum + e[2]
  end
  return sum
end

function log.most(p) return p.limit end

function log.at(p, n)
  local over = log.total(p) - (p.limit * slack - n)
  if over <= 0 then
    return 0
  end
  for _, e in ipairs(p.log) do
    over = over - e[2]
    if over <= 0 then
      return e[1] + p.window
    end
  end
  return p.log[#p.log][1] + p.window
end

function log.merge(p)
  local all, part = {}, p.window / parts
  for _, e in ipairs(p.log) do
    local newest = all[#all]
    if newest and math.floor(newest[1] / part) == math.floor(e[1] / part) then
      newest[1], newest[2] = e[1], newest[2] + e[2]
    else
      all[#all + 1] = e
    end
  end
  p.log = all
end

-- What may be spent until `till` is spent then at the latest.
function log.take(p, at, till, n)
  local newest = p.log[#p.log]
  if newest and newest[1] >= till then
    newest[2] = newest[2] + n
    return
  end
  p.log[#p.log + 1] = { till, n }
  if #p.log > exact then
    log.merge(p)
  end
end

function log.give(p, n)
  for _, e in ipairs(p.log) do
    local off = math.min(n, e[2])
    e[2], n = e[2] - off, n - off
  end
end

-- n units, evenly from one moment to another.
function log.spread(p, n, from, to)
  local pieces = math.max(1, math.min(32, math.ceil(n)))
  for i = 1, pieces do
    p.log[#p.log + 1] = { from + (to - from) * i / pieces, n / pieces }
  end
  table.sort(p.log, function(a, b) return a[1] < b[1] end)
  if #p.log > exact then
    log.merge(p)
  end
end

function log.empty(p, at) log.spread(p, math.max(0, p.limit - log.total(p)), at - p.window, at) end

function log.away(p, n, from) log.spread(p, n, from, now) end

function log.used(p)
  local sum = 0
  for _, e in ipairs(p.log) do
    if e[1] > now - p.window then
      sum = sum + e[2]
    end
  end
  return sum
end

function log.free(p, used) return p.limit - used end

function log.life(p)
  local newest = p.log[#p.log]
  return math.max(p.window, newest and newest[1] + p.window - now or 0)
end

local laws = {
  ['token-bucket'] = bucket, ['leaky-bucket'] = bucket,
  ['fixed-window'] = frame, ['sliding-counter'] = frame,
  ['sliding-log'] = log,
}

-- The policies of a text, and their shape: what must be the same in all processes.
local function parse(declared)
  local all, shape = {}, ''
  for kind, unit, limit, window, burst, phase in string.gmatch(declared, '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+);') do
    local p = {
      kind = kind, limit = tonumber(limit), window = tonumber(window), burst = tonumber(burst), phase = tonumber(phase),
    }
    p.rate = p.limit / p.window
    all[#all + 1] = setmetatable(p, { __index = laws[kind] })
    shape = shape .. kind .. ' ' .. unit .. ';'
  end
  return all, shape
end

local S = {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  S[flat[i]] = flat[i + 1]
end

local declared, opens, known, nonce = word(), word() == '1', word(), word()
local remembers, away = word() == '1', number()
local me, seen = word(), number()
local count, life, horizon = number(), number(), number()
local expires = number()
local quietTime, hold, age = number(), number(), number()

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
    S, fresh, epoch = { hold = S.hold }, true, nonce
    remembers = true
  elseif not opens then
    policies = their
  end
end
if opens then
  theirs = declared
end

local lost = remembers and (fresh or known ~= '' and known ~= epoch)
local need, more, spent = {}, {}, {}
for i, p in ipairs(policies) do
  for _, f in ipairs(p.fields) do
    p[f] = S[f .. i]
    if f ~= 'log' then
      p[f] = tonumber(p[f])
    end
  end
  if p.load then
    p.load(p)
  end
  local back, remembered
  need[i], more[i], back, spent[i], remembered = number(), number(), number(), number(), number()
  if lost then
    if fresh or p.roll then
      p.empty(p, now, remembered)
    end
  elseif away > 0 then
    p.away(p, spent[i], now - away)
  end
  if back > 0 and known == epoch then
    p.give(p, back, now - age)
  elseif back < 0 then
    p.take(p, now, now, -back)
  end
end

-- When everybody was away, they come back one by one. Until the last can have, those who are back go on as they did meanwhile: no slot lies
-- before `quiet`.
local quiet = tonumber(S.quiet or 0)
if quietTime > 0 and (lost and fresh or away > 0 and now - tonumber(S.seen or 0) >= 0.9 * away) then
  quiet = now + quietTime
  for _, p in ipairs(policies) do
    if laws[p.kind] == bucket then
      p.empty(p, quiet)
    end
  end
end

-- A hold is only ever extended. What the bucket holds at its end is nothing: a refusal has shown that.
local held = tonumber(S.hold or 0)
if now + hold > held and hold > 0 then
  held = now + hold
  for _, p in ipairs(policies) do
    if laws[p.kind] == bucket then
      p.empty(p, held)
    end
  end
  redis.pcall('PUBLISH', KEYS[1], text(hold))
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
  return at
end

-- Nobody waits any more for an answer this late: its slots would be lost.
if expires > 0 and now > expires then
  count = 0
end
local wait, slots = 0, {}
for j = 1, count do
  local units = j == 1 and need or more
  local at = earliest(units)
  if not at or at - now > horizon then
    if j == 1 then
      wait = at and at - now or -1
    end
    break
  end
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
  slots[#slots + 1] = text(at - now)
  slots[#slots + 1] = text(till - now)
end

local out = { 'epoch', epoch, 'declared', theirs, 'seen', text(now), 'quiet', text(quiet) }
local ttl, seenNow = math.max(0, held - now), {}
for i, p in ipairs(policies) do
  local used = p.used(p)
  local free = math.min(p.most(p), math.max(0, p.free(p, used)))
  local nextAt = used > 0 and p.at(p, math.min(p.most(p), math.floor(free) + 1)) or 0
  for _, x in ipairs({ used, free, math.max(0, nextAt - now), p.most(p) }) do
    seenNow[#seenNow + 1] = text(x)
  end
  ttl = math.max(ttl, p.life(p))
  for _, f in ipairs(p.fields) do
    local x = f == 'log' and p.text(p) or p[f]
    if x then
      out[#out + 1] = f .. i
      out[#out + 1] = f == 'log' and x or text(x)
    end
  end
end
if held > now then
  out[#out + 1] = 'hold'
  out[#out + 1] = text(held)
end

-- A tenth and a second more than it takes to be full again, so that a key that is gone has nothing to tell.
ttl = math.ceil(ttl / 1000 * 1.1) + 1000
if not S.epoch then
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], unpack(out))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ttl))
if seen > 0 then
  redis.call('ZADD', KEYS[2], text(now), me)
else
  redis.call('ZREM', KEYS[2], me)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - math.abs(seen)))
redis.call('PEXPIRE', KEYS[2], string.format('%.0f', ttl))

return {
  'ok', epoch, theirs == declared and '' or theirs, text(now), redis.call('ZCARD', KEYS[2]), text(ttl),
  text(math.max(0, held - now)), text(math.max(0, quiet - now)), text(wait), slots, seenNow,
}
