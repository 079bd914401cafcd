-- Closes a request whose owner has missed its deadline, at its last estimate, but at least at the charged total and
-- the prompt floor. Any worker may call it, any number of times.
--
-- KEYS[1] request record      KEYS[2] open requests         KEYS[3] usage of the day of admission
-- KEYS[4] requests in flight of the key     KEYS[5] recent requests
-- KEYS[6] key record          KEYS[7] organization
-- ARGV[1] request id          ARGV[2] key id        ARGV[3] month of admission    ARGV[4] day of admission
--         (2 to 4: as the caller read them from the record, '' without a record: the KEYS were made from them)
-- ARGV[5] when the month's figures expire, ms
--
-- Reply: {'closed', alerts fired}; {'not_due'}: renewed, ended or changed meanwhile; {'gone'}: no record, its deadline was removed.
--
-- Guarantees the same as charge.lua. A later charge still replaces the total.

-- @include integer.lua
-- @include lists.lua
-- @include time.lua
-- @include spend.lua
-- @include ended.lua
-- @include requests.lua
-- @include owners.lua
-- @include windows.lua
-- @include counters.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include reaped.lua
-- @include cap-rule.lua
-- @include thresholds.lua

-- @input

local deadline_ms = tonumber(redis.call('ZSCORE', open_requests, request_id) or '')
local due = deadline_ms and deadline_ms <= now_milliseconds()
local record = read_request(request)
if not record then
  if due then
    redis.call('ZREM', open_requests, request_id)
  end
  return { 'gone' }
end
if not due or record.key ~= key_id or record.month ~= month or record.day ~= day then
  return { 'not_due' }
end
redis.call('ZREM', open_requests, request_id)
redis.call('ZREM', inflight, request_id)
if record.state ~= 'open' then
  return { 'not_due' }
end

local totals = { unpack(record.figures) }
totals[REQUESTS] = 1
totals[ESTIMATED_REQUESTS] = 1
local estimate = record.estimate or { [COST_MICROCENTS] = 0 }
if estimate[COST_MICROCENTS] > totals[COST_MICROCENTS] then
  for position, figure in pairs(estimate) do
    totals[position] = figure
  end
end
if record.seq == 0 or record.floor > totals[COST_MICROCENTS] then
  totals[INPUT_TOKENS] = math.max(totals[INPUT_TOKENS], record.floor_input)
  totals[COST_MICROCENTS] = math.max(totals[COST_MICROCENTS], record.floor)
end
local difference = totals[COST_MICROCENTS] - record.figures[COST_MICROCENTS]
local row = usage_row(key_id, record.owners, record.model, record.tag_row)
local subjects = subjects_of(key_id, record.owners)
local windows, seeding, sums_until = unpack(redis.call('HMGET', organization, 'windows', 'windows_seeding', 'sums_until'))
if difference ~= 0 then
  move_spend(organization, windows, seeding, day, subjects, row, integer(difference), expires_at_ms)
end
move_usage(usage, row, record.figures, totals, expires_at_ms, day, sums_until)
if record.held_in ~= '' and record.left ~= 0 then
  move_windows(organization, day, record.held_in, subjects, 'held:', integer(-record.left), expires_at_ms)
end
if record.session_since ~= '' then
-- @include sessions.lua
  move_session(organization, key_id, record.session, record.session_since, difference, -record.left)
end

local entry = add_recent(recent, record.entry, request_id, reaped_entry(record, totals, record.price))
local fields = { 'state', 'closed', 'left', '0', 'entry', entry, 'reaped', '1' }
for position, figure in ipairs(USAGE_FIGURES) do
  fields[#fields + 1] = figure
  fields[#fields + 1] = integer(totals[position])
end
redis.call('HSET', request, unpack(fields))
redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
-- These figures are final, unless a charge follows.
return { 'closed', fire_alerts(organization, key_record, key_id, record.owners, windows_of(day_number(day), month)) }
