-- Prepares a request before it goes upstream: creates its record and deadline, takes its slot among the key's
-- requests in flight and, with strict caps, reserves its worst case. Checks the caps of the windows of admission
-- again, since a body may arrive long after its headers.
--
-- KEYS[1] request record      KEYS[2] open requests by deadline   KEYS[3] key record
-- KEYS[4] organization        KEYS[5] requests in flight of the key
-- KEYS[6] combinations of tags in the month of admission
-- ARGV[1] request id          ARGV[2] key id         ARGV[3] month of admission     ARGV[4] day of admission
-- ARGV[5] model               ARGV[6] route          ARGV[7] worst case, microcents, '' if unknown
-- ARGV[8] floor, microcents   ARGV[9] floor, input tokens              ARGV[10] when the month's figures expire, ms
-- ARGV[11] tags, '' for none  ARGV[12] checks, JSON: for the list of requests if another worker closes this one
-- ARGV[13] currency of its price, '' if unknown      ARGV[14] owners, '' for none
-- ARGV[15] session, '' for none   ARGV[16] '1': it may have a cap (sessions.lua)   ARGV[17] its client's budget, cents, or ''
-- ARGV[18..] of each token bucket that it meets (token-buckets.lua): its hash, its count, by how much the floor differs from what
--   its admission took of it
--
-- Reply: {'opened' or 'exists', tag row, session uncapped}; session uncapped: '1' if the key has too many sessions;
--   {'currency_changed', currency}: the organization's currency is not ARGV[13];
--   {'worst_case_required'}: the caps are strict and ARGV[7] is ''; {'concurrency_limited', limit};
--   {'<scope>_cap_reached', spent, held, cap cents, period, raised cents, owner name, amounts hidden, alerts fired} of a key,
--   a user, a group or an organization, or of a session, whose period is 'session': the cap that name-cap.lua names, with
--   strict caps the one that has least remaining.
--
-- Guarantees: nothing is reserved unless the reply is 'opened'; with strict caps spent + held never exceeds a cap.
-- Requests in flight of a key = its open records, even without a limit, so that a new limit counts from the moment
-- it is set; the open records never exceed a limit.

-- @include integer.lua
-- @include time.lua
-- @include spend.lua
-- @include currency.lua
-- @include ended.lua
-- @include requests.lua
-- @include tags.lua
-- @include owners.lua
-- @include windows.lua
-- @include counters.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include caps.lua
-- @include token-units.lua
-- @include abandoned.lua

-- @input
local FIRST_TOKEN_BUCKET = FIRST_FURTHER_ARGUMENT

if redis.call('EXISTS', request) == 1 then
  return { 'exists', redis.call('HGET', request, 'tag_row') or '' }
end

local now_ms = now_milliseconds()
local key = redis.call('HMGET', key_record, 'limits', 'raises', 'max_concurrent', 'session_cap_cents', 'session_budgets_until')
local max_concurrent_text, session_cap, budgets_until = unpack(key, 3)
local of_organization = redis.call('HMGET', organization, 'limits', 'raises', 'strict_caps', 'currency', 'windows',
  'windows_seeding', 'session_cap_cents')
local strict_caps, billed_in, windows_text, seeding_text, organization_session_cap = unpack(of_organization, 3)
-- The entry from its admission prevented a change of the currency, but only for a minute.
if is_other_currency(billed_in, currency) then
  return { 'currency_changed', billed_in }
end
local strict = strict_caps == '1'
if strict and worst_text == '' then
  return { 'worst_case_required' }
end
local worst = strict and tonumber(worst_text) or 0

-- A slot is released when its record is closed, not at its deadline. Abandoned requests are removed here before
-- they can cause a rejection; admissions remove some as well, so they are few. The request's own entry does not
-- count against it.
local MAX_ABANDONED = 10000
local function has_free_slot(max_concurrent)
  local own = redis.call('ZSCORE', inflight, request_id) and 1 or 0
  if redis.call('ZCARD', inflight) - own < max_concurrent then
    return true
  end
  remove_abandoned(inflight, open_requests, now_ms, MAX_ABANDONED, request_id)
  return redis.call('ZCARD', inflight) - own < max_concurrent
end

local max_concurrent = tonumber(max_concurrent_text or '')
if max_concurrent and not has_free_slot(max_concurrent) then
  return { 'concurrency_limited', max_concurrent_text }
end

-- Only read if the request belongs to a session with a cap, which few do.
local session, session_uncapped = nil, ''
if session_name ~= '' and is_session_capped then
-- @include sessions.lua
  session, session_uncapped = open_session(organization, key_record, key_id, session_name, now_ms, session_cap,
    organization_session_cap, session_budget, budgets_until)
end

local counted = counted_periods(windows_text, seeding_text)

-- Returns the cap to report among those that reject the request: with strict caps the one with the smallest
-- remaining amount. Sums beyond 2^53 are inexact, but then exceed any cap (9 * 10^15 at most).
local function find_refusing(caps)
  local reached, named = {}, nil
  for _, cap in ipairs(caps) do
    cap.remaining = remaining_of(cap.cents, tonumber(cap.spent) + tonumber(cap.held))
    local refuses = is_reached(cap.cents, tonumber(cap.spent))
    if refuses then
      reached[#reached + 1] = cap
    end
    if strict and (refuses or cap.remaining < worst) and (not named or cap.remaining < named.remaining) then
      named = cap
    end
  end
  if strict or #reached == 0 then
    return named
  end
-- @include name-cap.lua
  return name_cap(reached, resets_of(day_number(day), month))
end

if session or owners ~= '' or (key[1] or '') ~= '' or (of_organization[1] or '') ~= '' then
  local number = day_number(day)
  -- The cap of a session never resets and has the narrowest scope: if it is reached, it is reported.
  local caps = { session }
  local function collect(scope, subject, period, cents, _, raised, spent, held)
    caps[#caps + 1] = { scope = scope, subject = subject, period = period, cents = cents, raised = raised, spent = spent,
      held = held }
  end
  local collect_caps = create_cap_reader(organization, number, month, now_ms, strict, collect)
  for _, owner in ipairs(owners_of(organization, key_id, key, of_organization, owners)) do
    collect_caps(owner.scope, owner.subject, owner.limits, owner.raises)
  end
  local named = find_refusing(caps)
  if named then
    local name = (named.scope == 'user' or named.scope == 'group')
      and redis.call('HGET', sibling(organization, named.subject), 'name') or ''
-- @include thresholds.lua
    local fired = fire_alerts(organization, key_record, key_id, owners, windows_of(number, month))
    -- '1' if the organization hides the figures from clients.
    local amounts_hidden = redis.call('HGET', organization, 'hide_amounts') or ''
    return { named.scope .. '_cap_reached', named.spent, named.held, integer(named.cents), named.period, integer(named.raised),
      name, amounts_hidden, fired }
  end
end

local deadline_ms = integer(now_ms + DEADLINE_MS)
redis.call('HSET', request, 'state', 'open', 'key', key_id, 'day', day, 'model', model, 'route', route,
  'floor', floor_text, 'floor_input', floor_input, 'worst', integer(worst), 'left', integer(worst),
  'price', price, 'held_in', worst > 0 and counted or '')
local tag_row = decide_tag_row(combinations, key_id, tags, '', expires_at_ms)
if tags ~= '' then
  redis.call('HSET', request, 'tags', tags, 'tag_row', tag_row)
end
if owners ~= '' then
  redis.call('HSET', request, 'owners', owners)
end
if ARGV[FIRST_TOKEN_BUCKET] then
  local token_buckets = ARGV
-- @include take-tokens.lua
  redis.call('HSET', request, 'tokens_taken', floor_input .. ' 0')
end
if session_name ~= '' then
  redis.call('HSET', request, 'session', session_name, 'session_since', session and session.since or '')
end
redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
redis.call('ZADD', open_requests, deadline_ms, request_id)
redis.call('ZADD', inflight, deadline_ms, request_id)
if worst > 0 then
  move_windows(organization, day, counted, subjects_of(key_id, owners), 'held:', integer(worst),
    expires_at_ms)
  if session then
    redis.call('HINCRBY', session.hash, 'held', integer(worst))
  end
end
return { 'opened', tag_row, session_uncapped }
