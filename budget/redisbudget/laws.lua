-- The laws of package budget, over tables p that hold a policy and its state. Times are microseconds of the server's clock. Each has
--   at(p, n)              from when n units may be taken
--   take(p, at, till, n)  takes them for a moment between at and till; the call arrives up to p.guard after that
--   give(p, n, taken)     gives back what was to be used at the moment taken
--   empty(p, at, n, trail)  makes nothing available at that moment, or no more than n units spent in this window leave, or what left that trail
--   resume(p, held)       takes back that nothing was available before the moment held, for a bucket
--   away(p, own)          counts what was spent without asking, by its trail: pairs of how long ago and of units
--   used(p), free(p, used), most(p), life(p)  what State says, what there can ever be, how long until all is free again
--   spent(p)              when what counts was taken, in pairs of a moment and of units, oldest first; not for a bucket, which has forgotten

local slack = 1 + 2 ^ -50 -- as in package budget: what a limit may be exceeded by, relatively

local function text(x) return string.format('%.17g', x) end

-- The pairs of numbers in a text.
local function pairsOf(words)
  local all = {}
  for a, b in string.gmatch(words, '(%S+) (%S+)') do
    all[#all + 1] = { tonumber(a), tonumber(b) }
  end
  return all
end

-- Buckets: t is when the bucket is full (a leaky one: empty), since is when it last was full as something was taken, last is when
-- something was last taken; given is what was given back of the time until gave.
local bucket = { fields = { 't', 'since', 'last', 'gave', 'given' } }

function bucket.holds(p, n) return p.kind == 'leaky-bucket' and n or p.burst end

function bucket.most(p) return p.kind == 'leaky-bucket' and p.limit or p.burst end

function bucket.at(p, n) return p.t and p.t + (n - p.holds(p, n)) / p.rate or 0 end

-- What may be spent until `till` counts as spent then, but no later than costs nothing of the rate.
function bucket.take(p, at, till, n)
  local from = math.max(at, math.min(till, at + (p.holds(p, n) - n) / p.rate))
  if not p.t or p.t <= from then
    p.t, p.since = from, at
  end
  p.t, p.last = p.t + n / p.rate, math.max(p.last or at, at)
end

-- What slots may be late by, which must fit into the bucket all the time.
function bucket.slack(p) return math.min(p.late, (bucket.holds(p, 1) - 1) / p.rate / 2) end

-- What of n units, whose moments begin at `taken`, the server's bucket keeps for others who come later: no more than it holds beside the
-- slack, for all together that are not used in the same time. The rest runs over. What nothing was handed out behind is free in full.
function bucket.kept(p, n, taken)
  if taken >= p.last - n / p.rate then
    return n
  end
  if not p.gave or taken >= p.gave then
    p.given = 0
  end
  n = math.max(0, math.min(n, bucket.holds(p, 1) - bucket.slack(p) * p.rate - p.given))
  p.gave, p.given = math.max(now, p.last), p.given + n
  return n
end

-- Units taken before the bucket was last full are not given back: time has done so already. A leaky bucket gives back the latest only.
function bucket.give(p, n, taken)
  if not p.t then
    return
  end
  if p.kind == 'leaky-bucket' then
    if taken >= p.last then
      p.t = math.max(p.last, p.t - n / p.rate)
    end
  elseif p.since <= taken then
    p.t = p.t - bucket.kept(p, n, taken) / p.rate
  end
end

-- It begins with the slack less than nothing.
function bucket.empty(p, at)
  local t = at + bucket.holds(p, 1) / p.rate + bucket.slack(p)
  if not p.t or p.t < t then
    p.t, p.since, p.last = t, at, at
  end
end

-- What was taken for after that moment is still owed, until it is given back.
function bucket.resume(p, held)
  if p.t and p.t >= held + bucket.holds(p, 1) / p.rate then
    p.t = p.t - (held - now)
    p.since, p.last = math.min(p.since, now), math.min(p.last, now)
  end
end

function bucket.away(p) bucket.empty(p, now) end

function bucket.used(p) return p.t and math.max(0, p.t - now) * p.rate or 0 end

function bucket.spent(p) return {} end

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

-- The last moment at which a call may leave that is to arrive in the window of t.
function frame.last(p, t)
  local w = p.w
  if not w or t >= w + p.window then
    w = math.floor((t - p.phase) / p.window) * p.window + p.phase
  end
  return w + p.window - 1 - p.guard
end

-- A slot ends in time for its window, or begins with the next one.
function frame.till(p, at, till) return math.min(till, frame.last(p, at)) end

function frame.reach(p, at)
  local last = frame.last(p, at)
  return at > last and last + p.guard + 1 or at
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

function frame.away(p, own)
  frame.roll(p, now)
  for _, e in ipairs(pairsOf(own)) do
    local age, n = e[1], e[2]
    if now - age >= p.w then
      p.cur = p.cur + n
    elseif now - age >= p.w - p.window then
      p.prev = p.prev + n
    end
  end
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

function frame.spent(p)
  local all, middle = {}, p.w + p.window / 2
  if p.prev > 0 and (p.w > now or p.kind == 'sliding-counter') then
    all = { middle - p.window, p.prev }
  end
  if p.cur > 0 then
    all[#all + 1] = middle
    all[#all + 1] = p.cur
  end
  return all
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
  for _, e in ipairs(pairsOf(p.log or '')) do
    if e[1] > now - p.window then
      all[#all + 1] = e
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

-- What may be spent until `till` has arrived by the end of the guard at the latest.
function log.take(p, at, till, n)
  till = till + p.guard
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

-- Entries that were added out of order are put in order, and merged if they are many.
function log.order(p)
  table.sort(p.log, function(a, b) return a[1] < b[1] end)
  if #p.log > exact then
    log.merge(p)
  end
end

-- n units, evenly from one moment to another.
function log.spread(p, n, from, to)
  local pieces = math.max(1, math.min(32, math.ceil(n)))
  for i = 1, pieces do
    p.log[#p.log + 1] = { from + (to - from) * i / pieces, n / pieces }
  end
  log.order(p)
end

-- What is gone is what a process remembers; who remembers nothing takes all for used, evenly.
function log.empty(p, at, _, trail)
  if trail == '-' then
    log.spread(p, math.max(0, p.limit - log.total(p)), at - p.window, at)
    return
  end
  log.away(p, trail)
end

function log.away(p, own)
  for _, e in ipairs(pairsOf(own)) do
    local age, n = e[1], e[2]
    p.log[#p.log + 1] = { now - age + p.guard, n }
  end
  log.order(p)
end

function log.used(p)
  local sum = 0
  for _, e in ipairs(p.log) do
    if e[1] > now - p.window then
      sum = sum + e[2]
    end
  end
  return sum
end

-- To the sixteenth of the window: units leave late by no more, never early.
function log.spent(p)
  local all, part = {}, p.window / 16
  for _, e in ipairs(p.log) do
    if e[1] > now - p.window and e[2] > 0 then
      if #all > 0 and math.floor(all[#all - 1] / part) == math.floor(e[1] / part) then
        all[#all - 1], all[#all] = e[1], all[#all] + e[2]
      else
        all[#all + 1] = e[1]
        all[#all + 1] = e[2]
      end
    end
  end
  return all
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
