-- Admits or rejects requests of one key that arrived in one turn of a worker, one after the other. Checks in this
-- order: key and organization, bucket, tokens, concurrency, caps.
--
-- KEYS[1] key record            KEYS[2] organization          KEYS[3] bucket of requests
-- KEYS[4] bucket of count_tokens  KEYS[5] spend of the month    KEYS[6] requests in flight of the key
-- KEYS[7] stream of refused requests                           KEYS[8] open requests by deadline
-- ARGV[1] key id                ARGV[2] SHA-256 of the presented key, hexadecimal
-- ARGV[3] month's start, ms     ARGV[4] month's end (exclusive), ms
-- ARGV[5] 'requests' or 'count_tokens'
-- ARGV[6] '1': the calls cost money, so caps and the limit of concurrent requests apply
-- ARGV[7] version of the settings that the caller has cached, '' for none
-- ARGV[8] group that they count for in place of the key's own and its user's, '' for none
-- ARGV[9..] for each request: its id, its route, prompt tokens estimated from its headers, output tokens that shared buckets
--   reserve
--
-- Reply: {'month_changed', time ms}: TIME is outside of the month, nothing was changed; the only reply after which the
--   caller may send it again.
--   {'unknown_key', time ms}
--   JSON of {'decided', time ms, capacity, settings version, settings, requests, caps, reached, token buckets, token limit,
--   sessions capped, alerts fired}; the settings and their version are '' if ARGV[7] is their current
--   version.
--   caps: each cap in force {scope, period, cents, raised cents, spent}. reached: the index in them, from 1, of the cap that
--   rejects, chosen by name-cap.lua, otherwise ''
--   token buckets: those that the requests meet, see token-buckets.lua; '' for none. token limit: the one that rejects,
--   "<scope> <type> <limit>", otherwise ''; sessions capped: '1' when a request that names a session needs a record
--   (sessions.lua)
--   requests, for each: {decision, remaining, reset ms, retry after seconds, concurrent, entered, tokens}
--   settings:
-- @settings names
--   '' stands for null, and for a setting's default; remaining: whole requests; reset ms: until the bucket is full;
--   retry after seconds: until it has a token; concurrent: other requests in flight; entered: '1' if the request may
--   go upstream before it has a record; tokens: the tightest bucket of each type, as formatted by format-token-buckets.lua
--
-- Guarantees: units granted by a bucket = capacity + elapsed microseconds * rpm, to the unit, over all callers. A
-- rejection before the bucket takes no token, a later one keeps its token. With a concurrency limit an admission takes
-- no slot: the body is still to arrive, and open-record.lua takes it. A request rejected here could not get a slot
-- anyway, so its body need not be uploaded. A request that open-record.lua could not reject (no strict caps, no
-- concurrency limit) is entered here among the open requests and in flight, so that a new limit counts it from the
-- moment it is set. Its final charge removes it; as long as it is among the open requests, that charge has not arrived.
-- Its two deadlines differ, unlike those of a request with a record. A request that waits for a record is only entered
-- among the open requests, where it prevents a change of the currency.

-- Deciding fields are read from the records each time. The other settings rarely change between requests and are only
-- returned to a caller that does not have them: their version never names two states of the records, even if Redis was
-- restored from an older snapshot and the records' versions count up again.

-- @include integer.lua
-- @include time.lua
-- @include bucket.lua
-- @include stamp.lua
-- @include owners.lua

-- @input

-- Time that an entry waits for its request's body and record, or for a worker that takes over from a dead one.
local ENTERED_MS = 60000 -- @wait
-- Time that an entry counts among the requests in flight. A request goes upstream on its entry within a second of its
-- admission and has a record two seconds later; the rest is for a slow worker, up to Envoy's timeout. Later requests
-- get a slot by open-record.lua. A worker removes the entry of a client that disconnects before, if it lives to see it.
local ENTERED_IN_FLIGHT_MS = 10000
-- A token bucket is kept for this long, in addition to the time until it is full.
local TOKENS_RETENTION_MS = 86400000
-- Requests this far past their deadline are orphaned; a paused worker would have resumed by now.
local ABANDONED_MS = 3600000

local now_us = now_microseconds()
local now_ms = math.floor(now_us / 1000)
if now_ms < month_start_ms or now_ms >= month_end_ms then
  return { 'month_changed', integer(now_ms) }
end

local hash, rpm_text, key_version, key_stamp, key_limits =
  unpack(redis.call('HMGET', key_record, 'hash', 'rpm', 'version', 'stamp', 'limits'))
local organization_version, organization_stamp, organization_limits =
  unpack(redis.call('HMGET', organization, 'version', 'stamp', 'limits'))
local is_known = hash and organization_version
if is_known and hash ~= presented_hash then
  local former_hash, former_until = unpack(redis.call('HMGET', key_record, 'former_hash', 'former_until'))
  is_known = former_hash == presented_hash and now_ms < number_or_zero(former_until)
end
-- Rare settings only (stamp.lua); limits and rate are read above.
local key_rare, organization_rare
if is_known then
  key_rare = read_rare(key_record, key_version, key_stamp,
    'deleted_at disabled expires_at max_concurrent raises session_cap_cents session_budgets_until token_limits user_id group_id',
    'disabled')
  organization_rare = read_rare(organization, organization_version, organization_stamp,
    'deleted_at strict_caps suspended raises member_limits session_cap_cents token_limits',
    'strict_caps suspended')
end
if not is_known or key_rare.deleted_at or organization_rare.deleted_at then
  return { 'unknown_key', integer(now_ms) }
end

local rpm = tonumber(rpm_text)
local expires_at_ms = key_rare.expires_at and tonumber(key_rare.expires_at)
local max_concurrent = key_rare.max_concurrent and tonumber(key_rare.max_concurrent)

-- User and group of the request. The group from the caller's token comes first, then the key's own, then its user's.
-- Deleted users and groups are ignored; the key keeps working.
local user_id, group_id, owner_ids = '', '', ''
local user_version, user_stamp, user, group_version, group_stamp, group
if key_rare.user_id or key_rare.group_id or wanted_group_id ~= '' then
  -- Reads a user or a group: version, stamp and rare settings; nothing if it does not exist or was deleted.
  local function read_rare_owner(kind, id)
    if not id then
      return nil
    end
    local record = sibling(organization, kind .. ':' .. id)
    local version, stamp = unpack(redis.call('HMGET', record, 'version', 'stamp'))
    local rare = version and read_rare(record, version, stamp,
      'deleted_at disabled group_id limits raises member_limits token_limits', 'disabled')
    if not rare or rare.deleted_at then
      return nil
    end
    return version, stamp, rare
  end
  user_version, user_stamp, user = read_rare_owner('user', key_rare.user_id)
  group_id = wanted_group_id ~= '' and wanted_group_id or key_rare.group_id
  group_version, group_stamp, group = read_rare_owner('group', group_id)
  if not group and wanted_group_id ~= '' then
    group_id = key_rare.group_id
    group_version, group_stamp, group = read_rare_owner('group', group_id)
  end
  if not group and user then
    group_id = user.group_id
    group_version, group_stamp, group = read_rare_owner('group', group_id)
  end
  user_id = user and key_rare.user_id or ''
  group_id = group and group_id or ''
  owner_ids = user_id ~= '' and group_id ~= '' and user_id .. '.' .. group_id or user_id .. group_id
end

-- Inline instead of functions, which Redis would create again in each run.
local refusal
if key_rare.disabled then
  refusal = 'key_disabled'
elseif expires_at_ms and now_ms >= expires_at_ms then
  refusal = 'key_expired'
elseif user and user.disabled then
  refusal = 'user_disabled'
elseif organization_rare.suspended then
  refusal = 'organization_suspended'
end

-- Most keys have no token limits. Otherwise those of key, user, group and organization are checked in turn.
local buckets, bucket_names, token_limit, stored_units, stored_at = nil, '', '', nil, nil
-- @include token-units.lua
if not refusal and (key_rare.token_limits or organization_rare.token_limits or user and user.token_limits
  or group and group.token_limits) then
  buckets = {}
  for place = 1, 4 do
    local record = place == 1 and key_rare or place == 2 and user or place == 3 and group or place == 4 and organization_rare
    local limits = record and record.token_limits
    if limits then
      local scope = place == 1 and 'key' or place == 2 and 'user' or place == 3 and 'group' or 'organization'
      local hash = place == 1 and request_bucket or sibling(organization, place == 4 and 'tokens:organization'
        or 'tokens:' .. scope .. ':' .. (place == 2 and user_id or group_id))
-- @include token-buckets.lua
    end
  end
  -- Names of the buckets for the later charges of these requests.
  for position = 1, #buckets do
    local bucket, before = buckets[position], buckets[position - 1]
    if before and before[BUCKET_HASH] == bucket[BUCKET_HASH] then
      bucket_names = bucket_names .. ',' .. bucket[BUCKET_TYPE]
    else
      bucket_names = bucket_names .. (before and ' ' or '') .. bucket[BUCKET_SCOPE] .. '=' .. bucket[BUCKET_TYPE]
    end
  end
end

local capacity = request_capacity(rpm)
local units = bucket_units(request_bucket, rpm, capacity, now_us, stored_units, stored_at)
local is_counted = bucket_name == 'count_tokens'
local bucket, available = request_bucket, units
if is_counted and not refusal then
  bucket, available = count_bucket, bucket_units(count_bucket, rpm, count_capacity(rpm), now_us)
end

-- Caps of key, user, group and organization. A user has the member limits of its own group, which may differ from the
-- request's group.
local caps_text, reached, named = '', nil, nil
local number, month = math.floor(now_ms / 86400000), string.sub(spend, -7)
local has_members = user and (not user.group_id and organization_rare.member_limits
  or user.group_id and (user.group_id ~= group_id or group.member_limits))
if metered and not refusal and (has_members or (key_limits or '') ~= '' or (organization_limits or '') ~= ''
  or user and user.limits or group and group.limits) then
-- @include cap-rule.lua
-- @include caps.lua
  local caps_count = 0
  local function visit(scope, subject, period, cents, text, raised, spent)
    -- Same output as write_list at a third of the cost: none of these texts needs escaping in JSON.
    local cap_text = table.concat({ scope, period, text, raised == 0 and '0' or integer(raised), spent }, '","')
    caps_text = caps_text .. (caps_text == '' and '["' or ',["') .. cap_text .. '"]'
    caps_count = caps_count + 1
    if is_reached(cents, tonumber(spent)) then
      reached = reached or {}
      reached[#reached + 1] = { scope = scope, subject = subject, period = period, cents = cents, raised = raised,
        spent = spent, place = caps_count }
    end
  end
  local visit_caps = create_cap_reader(organization, number, month, now_ms, false, visit)
  if (key_limits or '') ~= '' then
    visit_caps('key', 'key:' .. key_id, key_limits, key_rare.raises or '')
  end
  if user then
-- @include inherited-limits.lua
    local of_members = group and user.group_id == group_id and (group.member_limits or '')
      or member_limits_of(organization, user.group_id, organization_rare.member_limits or '')
    visit_caps('user', 'user:' .. user_id, with_member_limits(user.limits or '', of_members), user.raises or '')
  end
  if group and group.limits then
    visit_caps('group', 'group:' .. group_id, group.limits, group.raises or '')
  end
  if (organization_limits or '') ~= '' then
    visit_caps('organization', 'organization', organization_limits, organization_rare.raises or '')
  end
  if reached then
-- @include windows.lua
-- @include name-cap.lua
    named = name_cap(reached, resets_of(number, month))
  end
end

-- Decision for all requests that get past the bucket.
local decision_after_bucket, concurrent = 'admitted', ''
if not refusal and metered and available >= UNITS_PER_TOKEN then
  if max_concurrent then
    -- Requests past their deadline may be orphaned; open-record.lua finds out.
    local in_flight = redis.call('ZCOUNT', inflight, '(' .. integer(now_ms), '+inf')
    concurrent = integer(in_flight)
    if in_flight >= max_concurrent then
      decision_after_bucket = 'concurrency_limited'
    end
  end
  if decision_after_bucket == 'admitted' and named then
    decision_after_bucket = named.scope .. '_cap_reached'
  end
end

local alerts_fired, key_spent, organization_spent = '0', '0', '0'
if named and decision_after_bucket == named.scope .. '_cap_reached' then
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include cap-rule.lua
-- @include thresholds.lua
  alerts_fired = fire_alerts(organization, key_record, key_id, owner_ids, windows_of(number, month))
  key_spent, organization_spent = unpack(redis.call('HMGET', spend, 'key:' .. key_id, 'organization'))
end

local can_enter = not organization_rare.strict_caps and not max_concurrent
local deadline_ms = integer(now_ms + ENTERED_MS)
local in_flight_deadline_ms = integer(now_ms + ENTERED_IN_FLIGHT_MS)
-- Calls without cost take no tokens.
local paid_buckets = metered and not is_counted and buckets or nil
local decided, open_entries, in_flight_entries, is_sweeping = '', nil, nil, false
for position = FIRST_FURTHER_ARGUMENT, #ARGV, 4 do
-- @row admitted-request ARGV position
  local decision, retry_after_s, shown_concurrent = refusal or decision_after_bucket, 0, concurrent
  if not refusal then
    if available >= UNITS_PER_TOKEN then
      available = available - UNITS_PER_TOKEN
      -- Picks the empty bucket that is above 0 last.
      local empty, empty_ms = nil, 0
      for place = 1, paid_buckets and #paid_buckets or 0 do
        local limit, level = paid_buckets[place][BUCKET_LIMIT], paid_buckets[place][BUCKET_LEVEL]
        if level <= 0 and (1 - level) / limit > empty_ms then
          empty, empty_ms = paid_buckets[place], (1 - level) / limit
        end
      end
      if empty then
        decision, retry_after_s, shown_concurrent = 'token_rate_limited', math.ceil(empty_ms / 1000), ''
        token_limit = string.format('%s %s %d', empty[BUCKET_SCOPE], empty[BUCKET_TYPE], empty[BUCKET_LIMIT])
      elseif paid_buckets and decision == 'admitted' then
        for place = 1, #paid_buckets do
          local bucket = paid_buckets[place]
          local taken = bucket[BUCKET_TYPE] == 'output' and 0 or tonumber(prompt_tokens)
          if bucket[BUCKET_TYPE] ~= 'input' and bucket[BUCKET_SCOPE] ~= 'key' then
            taken = taken + tonumber(reserved_tokens)
          end
          bucket[BUCKET_LEVEL] = bucket[BUCKET_LEVEL] - taken * UNITS_PER_LIMITED_TOKEN
        end
      end
    else
      decision, retry_after_s, shown_concurrent = 'rate_limited', math.ceil((UNITS_PER_TOKEN - available) / (rpm * 1000000)), ''
    end
    if not is_counted then
      units = available
    end
  end
  local remaining, entered = math.floor(units / UNITS_PER_TOKEN), ''
  if decision ~= 'admitted' then
-- @include lists.lua
-- @include refused.lua
    add_refused(refused, request_id, {
      key = key_id, route = route, decision = decision, bucket = bucket_name, rpm = rpm_text, owners = owner_ids,
      max_concurrent = key_rare.max_concurrent or '', expires_at = key_rare.expires_at or '', spent = key_spent or '0',
      currency = redis.call('HGET', organization, 'currency') or '', organization_spent = organization_spent or '0',
      remaining = integer(remaining), capacity = integer(capacity), retry_after = integer(retry_after_s), concurrent = shown_concurrent,
      token_limit = token_limit, caps = named and caps_text or '', reached = named and integer(named.place) or '',
    })
  elseif metered then
    -- Most calls have one request. A list that is made whole takes half the time.
    if open_entries then
      open_entries[#open_entries + 1] = deadline_ms
      open_entries[#open_entries + 1] = request_id
    else
      open_entries = { deadline_ms, request_id }
    end
    if can_enter then
      if in_flight_entries then
        in_flight_entries[#in_flight_entries + 1] = in_flight_deadline_ms
        in_flight_entries[#in_flight_entries + 1] = request_id
      else
        in_flight_entries = { in_flight_deadline_ms, request_id }
      end
      entered = '1'
      is_sweeping = is_sweeping or string.sub(request_id, -2) == '00'
    end
  end
  local levels = ''
  if buckets then
-- @include format-token-buckets.lua
  end
  decided = decided .. (decided == '' and '' or ',') .. string.format('["%s","%d","%d","%d","%s","%s","%s"]', decision, remaining,
    math.ceil((capacity * UNITS_PER_TOKEN - units) / (rpm * 1000)), retry_after_s, shown_concurrent, entered,
    levels)
end
-- Written even if nothing was granted, so that units earned until now survive if the clock goes back.
local of_key
if paid_buckets then
  local fields
  for position = 1, #paid_buckets do
    local bucket, following = paid_buckets[position], paid_buckets[position + 1]
    local name, hash, limit, at_ms = bucket[BUCKET_TYPE], bucket[BUCKET_HASH], bucket[BUCKET_LIMIT], bucket[BUCKET_AT_MS]
    local state = struct.pack('<dddd', bucket[BUCKET_LEVEL], now_ms, limit, bucket[BUCKET_USED])
    if fields then
      fields[#fields + 1], fields[#fields + 2] = name, state
    else
      fields = { name, state }
    end
    if at_ms == 0 then
      fields[#fields + 1], fields[#fields + 2] = name .. ':used', integer(bucket[BUCKET_USED])
    end
    if bucket[BUCKET_SCOPE] == 'key' then
      of_key = fields
    else
      if not following or following[BUCKET_HASH] ~= hash then
        redis.call('HSET', hash, unpack(fields))
      end
      -- Once an hour is enough, so that used buckets never expire. An expired bucket starts full.
      if math.floor(at_ms / 3600000) ~= math.floor(now_ms / 3600000) then
        redis.call('PEXPIRE', hash, integer(TOKENS_RETENTION_MS
          + math.ceil((limit * UNITS_PER_LIMITED_TOKEN - bucket[BUCKET_LEVEL]) / limit)))
      end
    end
    if following and following[BUCKET_HASH] ~= hash then
      fields = nil
    end
  end
end
if of_key then
  write_bucket(bucket, available, now_us, unpack(of_key))
elseif not refusal then
  write_bucket(bucket, available, now_us)
end
if open_entries then
  redis.call('ZADD', open_requests, unpack(open_entries))
end
if in_flight_entries then
  redis.call('ZADD', inflight, unpack(in_flight_entries))
end
if is_sweeping then
  -- In one of 256 requests, and removes twice as many as may have arrived: a new limit then finds few of them.
  redis.call('ZREMRANGEBYSCORE', inflight, '-inf', integer(now_ms - ABANDONED_MS))
-- @include abandoned.lua
  remove_abandoned(inflight, open_requests, now_ms, 512)
end

local settings_version = settings_version_of(key_version, key_stamp, organization_version, organization_stamp)
  .. owner_versions(user_id, user_version, user_stamp) .. owner_versions(group_id, group_version, group_stamp)
local settings = '""'
if settings_version == known_version then
  settings_version = ''
else
-- @include lists.lua
  key_stamp = renew_stamp(key_record, key_version, key_stamp, now_us, key_rare)
  organization_stamp = renew_stamp(organization, organization_version, organization_stamp, now_us, organization_rare)
  if user_version then
    user_stamp = renew_stamp(sibling(organization, 'user:' .. user_id), user_version, user_stamp, now_us, user)
  end
  if group_version then
    group_stamp = renew_stamp(sibling(organization, 'group:' .. group_id), group_version, group_stamp, now_us, group)
  end
  settings_version = settings_version_of(key_version, key_stamp, organization_version, organization_stamp)
    .. owner_versions(user_id, user_version, user_stamp) .. owner_versions(group_id, group_version, group_stamp)
-- @settings key
-- @settings organization
  local texts = key_texts
  for position = 1, #organization_texts do
    texts[#texts + 1] = organization_texts[position]
  end
  local user_name = user and redis.call('HGET', sibling(organization, 'user:' .. user_id), 'name')
  local group_name = group and redis.call('HGET', sibling(organization, 'group:' .. group_id), 'name')
  for _, text in ipairs({ user_id, user_name or '', group_id, group_name or '' }) do
    texts[#texts + 1] = text
  end
  for position = 1, #texts do
    texts[position] = texts[position] or ''
  end
  settings = write_list(texts)
end
local are_sessions_capped = key_rare.session_cap_cents or organization_rare.session_cap_cents
  or key_rare.session_budgets_until and tonumber(key_rare.session_budgets_until) > now_ms
return string.format('["decided","%d","%d","%s",%s,[%s],[%s],"%s","%s","%s","%s","%s"]', now_ms, capacity, settings_version,
  settings, decided, caps_text, named and named.place or '', bucket_names, token_limit,
  are_sessions_capped and '1' or '', alerts_fired)
