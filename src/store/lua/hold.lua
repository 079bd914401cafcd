-- Before a request goes upstream: its record, its deadline, its place among the key's requests in flight and, with
-- strict caps, its worst case. Checks the caps of the month of admission once more, since a body may come long after its
-- headers.
--
-- KEYS[1] request record      KEYS[2] holds (open requests by deadline)   KEYS[3] key record
-- KEYS[4] organization        KEYS[5] spend of the month of admission      KEYS[6] requests in flight of the key
-- KEYS[7] combinations of tags in the month of admission
-- ARGV[1] request id          ARGV[2] key id         ARGV[3] month of admission     ARGV[4] day of admission
-- ARGV[5] model               ARGV[6] route          ARGV[7] worst case, microcents, '' when not known
-- ARGV[8] floor, microcents   ARGV[9] floor, input tokens              ARGV[10] when the month's figures expire, ms
-- ARGV[11] tags, '' for none  ARGV[12] checks, JSON: what the list of requests has when another closes this one
-- ARGV[13] currency of its price, '' when not known      ARGV[14] owners, '' for none
--
-- Reply: {'held' or 'exists', tag row}; {'currency_changed', currency}: the organization has another than ARGV[13];
--   {'worst_case_required'}: the caps are strict and ARGV[7] is ''; {'concurrency_limited', limit};
--   {'key_cap_reached' or 'organization_cap_reached', spent, held, cap cents}.
--
-- Keeps: nothing is held unless the reply is 'held'; with strict caps spent + held never exceeds a cap. Requests in
-- flight of a key = its open records, whether or not it has a limit, so that a limit counts from when it is set; with a
-- limit no hold makes them more than it says.

-- @include integer.lua
-- @include time.lua
-- @include spend.lua
-- @include currency.lua
-- @include ended.lua
-- @include requests.lua
-- @include tags.lua

local request, holds, key_record, organization, spend, inflight = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local combinations = KEYS[7]
local request_id, key_id, month, day, model, route = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local worst_text, floor_text, floor_input, expires_at_ms = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local tags, price, currency, owners = ARGV[11], ARGV[12], ARGV[13], ARGV[14]

if redis.call('EXISTS', request) == 1 then
  return { 'exists', redis.call('HGET', request, 'tag_row') or '' }
end

local now_ms = now_milliseconds()
local key = redis.call('HMGET', key_record, 'hard_cap_cents', 'max_concurrent')
local owner = redis.call('HMGET', organization, 'hard_cap_cents', 'strict_caps', 'currency')
-- What its admission left here kept the currency from being changed, but for no longer than a minute.
if is_other_currency(owner[3], currency) then
  return { 'currency_changed', owner[3] }
end
local strict = owner[2] == '1'
if strict and worst_text == '' then
  return { 'worst_case_required' }
end
local worst = strict and tonumber(worst_text) or 0

-- A place ends when its record is closed, not at its deadline: the owner may come back. Removed is what has no record: its
-- deadline among the holds is another, as its admission left it, or it has none there any more; so many at a time that
-- nobody waits for it. The request's own entry takes no place from it.
local function has_free_place(max_concurrent)
  local own = redis.call('ZSCORE', inflight, request_id) and 1 or 0
  if redis.call('ZCARD', inflight) - own < max_concurrent then
    return true
  end
  local overdue = redis.call('ZRANGEBYSCORE', inflight, '-inf', integer(now_ms), 'WITHSCORES', 'LIMIT', 0, 100)
  for position = 1, #overdue, 2 do
    local id, deadline_ms = overdue[position], overdue[position + 1]
    if id ~= request_id and redis.call('ZSCORE', holds, id) ~= deadline_ms then
      redis.call('ZREM', inflight, id)
    end
  end
  return redis.call('ZCARD', inflight) - own < max_concurrent
end

local max_concurrent = tonumber(key[2] or '')
if max_concurrent and not has_free_place(max_concurrent) then
  return { 'concurrency_limited', key[2] }
end

local spent = redis.call('HMGET', spend, 'key:' .. key_id, 'held:key:' .. key_id, 'organization', 'held:organization')

-- Nil when it fits. Sums beyond 2^53 are inexact, but then beyond any cap (9 * 10^15 at most).
local function refusal(decision, cap_cents, spent_text, held_text)
  local cap = tonumber(cap_cents or '')
  if not cap then
    return nil
  end
  cap = cap * 1000000
  local settled, held = number_or_zero(spent_text), strict and number_or_zero(held_text) or 0
  if settled < cap and settled + held + worst <= cap then
    return nil
  end
  if not strict and settled < cap then
    return nil
  end
  return { decision, spent_text or '0', strict and held_text or '0', cap_cents }
end

local refused = refusal('key_cap_reached', key[1], spent[1], spent[2])
  or refusal('organization_cap_reached', owner[1], spent[3], spent[4])
if refused then
  return refused
end

local deadline_ms = integer(now_ms + DEADLINE_MS)
redis.call('HSET', request, 'state', 'open', 'key', key_id, 'month', month, 'day', day, 'model', model, 'route', route,
  'floor', floor_text, 'floor_input', floor_input, 'worst', integer(worst), 'left', integer(worst),
  'price', price)
local tag_row = decide_tag_row(combinations, tags, '', expires_at_ms)
if tags ~= '' then
  redis.call('HSET', request, 'tags', tags, 'tag_row', tag_row)
end
if owners ~= '' then
  redis.call('HSET', request, 'owners', owners)
end
redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
redis.call('ZADD', holds, deadline_ms, request_id)
redis.call('ZADD', inflight, deadline_ms, request_id)
if worst > 0 then
  move_held(spend, key_id, worst)
  keep_until(spend, expires_at_ms)
end
return { 'held', tag_row }
