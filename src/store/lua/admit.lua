-- May this key send this request? Checks in this order: key and organization, bucket, concurrency, caps.
--
-- KEYS[1] key record            KEYS[2] organization          KEYS[3] bucket of requests
-- KEYS[4] bucket of count_tokens  KEYS[5] spend of the month    KEYS[6] requests in flight of the key
-- KEYS[7] stream of refused requests                           KEYS[8] holds (open requests by deadline)
-- ARGV[1] key id                ARGV[2] SHA-256 of the presented key, hexadecimal
-- ARGV[3] month's start, ms     ARGV[4] month's end (exclusive), ms
-- ARGV[5] request id            ARGV[6] route                 ARGV[7] 'requests' or 'count_tokens'
-- ARGV[8] '1': the call costs money, so caps and the limit of concurrent requests apply
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month, nothing was changed; the only reply after which the
--   caller may send it again.
--   {'unknown_key', time ms}
--   {decision, time ms, key display, key spent, organization spent, remaining, capacity, reset ms, retry after seconds,
--   concurrent, entered, key name, key requests per minute, key hard cap cents, key budget cents, key allowed models,
--   key max concurrent requests, key expires at ms, key default tags, organization name, organization currency,
--   organization hard cap cents, organization budget cents, organization strict caps, organization end user tag,
--   organization model names}
--   '' stands for none, and for a setting's default; remaining: whole requests; reset ms: until the bucket is full; retry after seconds: until it has
--   a token; concurrent: other requests in flight; entered: '1' when the request is among the holds, so that it may go upstream
--   before it has a record.
--
-- Keeps: units granted by a bucket = capacity + elapsed microseconds * rpm, to the unit, over all callers. A refusal
-- before the bucket takes no token, one after it keeps its token. With a limit of concurrent requests it takes no place
-- among those in flight: the body is still to come, and hold takes it. What is refused here has no hope of one, and need
-- not be uploaded. A request whose hold would refuse nothing (no strict caps, no such limit) is entered here among the
-- holds and in flight, so that a limit counts it from when it is set: its final charge takes it out, and as long as it is
-- among the holds that has not come.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include refused.lua

local key_record, organization, request_bucket, count_bucket = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local spend, inflight, refused, holds = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local key_id, presented_hash = ARGV[1], ARGV[2]
local month_start_ms, month_end_ms = tonumber(ARGV[3]), tonumber(ARGV[4])
local request_id, route, bucket_name, metered = ARGV[5], ARGV[6], ARGV[7], ARGV[8] == '1'

-- How long an entry waits for its request's body and record, or for a worker that takes up what a dead one has begun.
local ENTERED_MS = 60000
-- Past its deadline for so long, a request in flight is nobody's: a worker that stood still would have come back.
local ABANDONED_MS = 3600000

local now_us = now_microseconds()
local now_ms = math.floor(now_us / 1000)
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return { 'month_changed', integer(now_ms) }
end

local hash, former_hash, former_until, disabled, expires_at, rpm_text, key_cap, max_concurrent_text, key_name, display,
  key_budget, allowed_models, deleted_at, default_tags = unpack(redis.call('HMGET', key_record, 'hash', 'former_hash', 'former_until',
  'disabled', 'expires_at', 'rpm', 'hard_cap_cents', 'max_concurrent', 'name', 'display', 'budget_cents',
  'allowed_models', 'deleted_at', 'default_tags'))
local organization_name, currency, organization_cap, organization_budget, strict_caps, suspended, end_user_tag, model_names =
  unpack(redis.call('HMGET', organization, 'name', 'currency', 'hard_cap_cents', 'budget_cents', 'strict_caps',
  'suspended', 'end_user_tag', 'model_names'))
local hash_is_valid = hash == presented_hash
  or (former_hash == presented_hash and now_ms < number_or_zero(former_until))
if not hash or not organization_name or not hash_is_valid or (deleted_at and deleted_at ~= '') then
  return { 'unknown_key', integer(now_ms) }
end

local expires_at_ms, rpm = tonumber(expires_at or ''), tonumber(rpm_text)
local key_cap_cents, max_concurrent = tonumber(key_cap or ''), tonumber(max_concurrent_text or '')
local organization_cap_cents = tonumber(organization_cap or '')

local key_spent, organization_spent = unpack(redis.call('HMGET', spend, 'key:' .. key_id, 'organization'))
key_spent, organization_spent = key_spent or '0', organization_spent or '0'

local capacity = request_capacity(rpm)
local units = bucket_units(request_bucket, rpm, capacity, now_us)
local retry_after_s = 0
local concurrent = ''

-- Takes one token, or says how many whole seconds it takes until there is one. Returns the units that are left.
local function take(bucket, available)
  local granted = available >= UNITS_PER_TOKEN
  local left = granted and available - UNITS_PER_TOKEN or available
  if not granted then
    retry_after_s = math.ceil((UNITS_PER_TOKEN - left) / (rpm * 1000000))
  end
  -- On a refusal too: should the clock go back, nothing of what has come in until now is lost.
  write_bucket(bucket, left, now_us)
  return left, granted
end

local function take_token()
  local granted
  if bucket_name == 'count_tokens' then
    local _, count_granted = take(count_bucket, bucket_units(count_bucket, rpm, count_capacity(rpm), now_us))
    return count_granted
  end
  units, granted = take(request_bucket, units)
  return granted
end

-- Those whose deadline has passed may be nobody's any more, which is for hold to find out.
local function has_free_place()
  if not metered or not max_concurrent then
    return true
  end
  concurrent = redis.call('ZCOUNT', inflight, '(' .. integer(now_ms), '+inf')
  return concurrent < max_concurrent
end

local function is_reached(cap_cents, spent_microcents)
  return metered and cap_cents and tonumber(spent_microcents) >= cap_cents * 1000000
end

local function decide()
  if disabled == '1' then return 'key_disabled' end
  if expires_at_ms and now_ms >= expires_at_ms then return 'key_expired' end
  if suspended == '1' then return 'organization_suspended' end
  if not take_token() then return 'rate_limited' end
  if not has_free_place() then return 'concurrency_limited' end
  if is_reached(key_cap_cents, key_spent) then return 'key_cap_reached' end
  if is_reached(organization_cap_cents, organization_spent) then return 'organization_cap_reached' end
  return 'admitted'
end

local decision = decide()
if concurrent ~= '' then
  concurrent = integer(concurrent)
end
local remaining = integer(math.floor(units / UNITS_PER_TOKEN))
local reset_ms = integer(math.ceil((capacity * UNITS_PER_TOKEN - units) / (rpm * 1000)))
if decision ~= 'admitted' then
  add_refused(refused, request_id, key_id, {
    route = route, decision = decision, bucket = bucket_name, rpm = rpm_text, hard_cap_cents = key_cap or '',
    max_concurrent = max_concurrent_text or '', expires_at = expires_at or '', spent = key_spent,
    currency = currency or '', organization_hard_cap_cents = organization_cap or '',
    organization_spent = organization_spent, remaining = remaining, capacity = integer(capacity),
    retry_after = integer(retry_after_s), concurrent = concurrent,
  })
end
local entered = ''
if decision == 'admitted' and metered and strict_caps ~= '1' and not max_concurrent then
  local deadline_ms = integer(now_ms + ENTERED_MS)
  redis.call('ZADD', holds, deadline_ms, request_id)
  redis.call('ZADD', inflight, deadline_ms, request_id)
  entered = '1'
  if string.sub(request_id, -2) == '00' then
    -- Now and then, what nobody has taken out: with a limit hold does that.
    redis.call('ZREMRANGEBYSCORE', inflight, '-inf', integer(now_ms - ABANDONED_MS))
  end
end
return {
  decision, integer(now_ms), display or '', key_spent, organization_spent, remaining, integer(capacity), reset_ms,
  integer(retry_after_s), concurrent, entered, key_name or '', rpm_text, key_cap or '', key_budget or '', allowed_models or '',
  max_concurrent_text or '', expires_at or '', default_tags or '', organization_name, currency or '',
  organization_cap or '', organization_budget or '', strict_caps or '', end_user_tag or '', model_names or '',
}
