-- Sets the cost of a request so far. A charge never adds, it sets the request's total: repeated, late or reordered
-- charges change nothing, and charges of a closed or missing record still count. While the request is in flight,
-- its total is a lower bound of its cost; the best estimate is stored next to it, for the worker that closes the
-- record if the owner dies. In a record that another worker has closed, the estimate counts.
--
-- KEYS[1] request record      KEYS[2] open requests         KEYS[3] usage of the day of admission
-- KEYS[4] requests in flight of the key     KEYS[5] recent requests
-- KEYS[6] key record          KEYS[7] organization  KEYS[8] combinations of tags in the month of admission
-- ARGV: two. The second: what the list of recent requests gets, see requests/recent-entry.ts (final only, '' otherwise).
--   The first: the JSON of the list of these
-- ARGV[1] request id          ARGV[2] key id        ARGV[3] month of admission    ARGV[4] day of admission
-- ARGV[5] model               ARGV[6] route         ARGV[7] sequence number       ARGV[8] '1': final
-- ARGV[9] totals, a list in the order of USAGE_FIGURES
-- ARGV[10] when the month's figures expire, ms              ARGV[11] currency of the totals, '' if unknown
--   The list ends here if all that follows is ''.
-- ARGV[12] price: checks, JSON, for the list if another worker closes the request; '' with a final, or if unknown
-- ARGV[13] best estimate: the figures of ESTIMATED_POSITIONS, one space between; '' with a final
-- ARGV[14] tags, '' for none  ARGV[15] tag row that open-record.lua replied, '' without its reply
-- ARGV[16] '1': only if a record exists, or the request is still among the open requests as its admission entered it
-- ARGV[17] owners, '' for none
-- ARGV[18] session, '' for none   ARGV[19] '1': it may have a cap (sessions.lua)
--   The list ends here without token buckets (token-buckets.lua).
-- ARGV[20] tokens of its prompt that its admission took      ARGV[21] tokens of its prompt that it has used, ARGV[22] of its
--   answer   ARGV[23..] of each token bucket that it meets: its hash, its count, what its admission reserved of it
--
-- Reply: JSON of {'applied', alerts fired, fell}; fell: why spend decreased, 'interim' (below what this request's owner had counted
--   before) or 'reaped' (below the total at which another worker closed it), otherwise ''; {'repeated'}: a charge with this
--   sequence number or a later one was applied before, nothing was changed; {'ended'}: ARGV[16] is '1' and the request has had its
--   final charge, or none can come, and its record is gone; nothing was changed.
-- Error: MISMATCH if the record has another key, month, day or model, or the organization another currency.
--
-- Guarantees: spend (also its session's) and usage of the month of admission change by the same difference, total -
-- charged; reserved amount = max(0, worst - total) while open, 0 once closed; requests in flight of a key = its
-- open records. Alerts compare the same spend as caps.

-- @include integer.lua
-- @include lists.lua
-- @include time.lua
-- @include spend.lua
-- @include currency.lua
-- @include ended.lua
-- @include tags.lua
-- @include requests.lua
-- @include reaped.lua
-- @include owners.lua
-- @include counters.lua
-- @include cap-rule.lua
-- @include reached.lua
-- @include token-units.lua

-- @input
local list = read_list(list_text)
-- @row charge list 1 FIRST_RARE
-- @row charge-rare list FIRST_RARE FIRST_TOKENS
-- @row charge-tokens list FIRST_TOKENS FIRST_BUCKET_MET
local is_session_capped = session_capped == '1'
final, only_entered = final == '1', only_entered == '1'
price, estimate, tags, tag_row = price or '', estimate or '', tags or '', tag_row or ''
owners, session = owners or '', session or ''

local exists = redis.call('EXISTS', request) == 1
if not exists and only_entered and not redis.call('ZSCORE', open_requests, request_id) then
  return { 'ended' }
end
if not exists then
  tag_row = decide_tag_row(combinations, key_id, tags, tag_row, expires_at_ms)
end

local record = exists and read_request(request)
  or { state = 'open', seq = -1, worst = 0, left = 0, figures = no_figures(), tags = tags, tag_row = tag_row,
    owners = owners, session = session, session_since = '' }
if exists and (record.key ~= key_id or record.month ~= month or record.day ~= day or record.model ~= model) then
  return redis.error_reply('MISMATCH the record of this request says another key, month, day or model')
end
if tonumber(seq) <= record.seq then
  return { 'repeated' }
end
local of_organization = redis.call('HMGET', organization, 'limits', 'member_limits', 'currency', 'windows', 'windows_seeding',
  'sums_until')
local billed_in, windows, seeding, sums_until = unpack(of_organization, 3)
if is_other_currency(billed_in, currency) then
  return redis.error_reply(OTHER_CURRENCY)
end

for position, text in ipairs(totals) do
  totals[position] = tonumber(text)
end
if record.state ~= 'open' and not final then
  -- Another worker has closed the request, and its owner may never return: keep the best estimate.
  for position, figure in pairs(parse_estimate(estimate) or {}) do
    totals[position] = math.max(totals[position], figure)
  end
end
local total = totals[COST_MICROCENTS]
local difference = total - record.figures[COST_MICROCENTS]
local row = usage_row(key_id, record.owners, model, record.tag_row)
local subjects, sums = subjects_of(key_id, record.owners), {}
if difference ~= 0 then
  sums = move_spend(organization, windows, seeding, day, subjects, row, integer(difference), expires_at_ms)
end
move_usage(usage, row, record.figures, totals, expires_at_ms, day, sums_until)

local open = record.state == 'open' and not final
local remaining = open and math.max(0, record.worst - total) or 0
if record.held_in ~= '' and remaining ~= record.left then
  move_windows(organization, day, record.held_in, subjects, 'held:', integer(remaining - record.left), expires_at_ms)
end
if record.session_since ~= '' or not exists and session ~= '' and is_session_capped then
-- @include sessions.lua
  if not exists then
    record.session_since = session_since(organization, key_record, key_id, session)
  end
  move_session(organization, key_id, record.session, record.session_since, difference, remaining - record.left)
end
local fell = ''
if total < record.figures[COST_MICROCENTS] then
  fell = record.reaped and 'reaped' or 'interim'
end

-- Unchanged fields are not written again; a missing figure is 0.
local fields = { 'state', open and 'open' or 'closed', 'seq', seq }
local function set(name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
for position, figure in ipairs(USAGE_FIGURES) do
  if totals[position] ~= record.figures[position] or record.has_totals then
    set(figure, integer(totals[position]))
  end
end
if record.has_totals then
  set('totals', '')
end
if remaining ~= record.left then
  set('left', integer(remaining))
end
if estimate ~= '' or record.estimate then
  set('estimate', estimate)
end
if not exists then
  set('key', key_id)
  set('day', day)
  set('model', model)
  set('route', route)
  if tags ~= '' then
    set('tags', tags)
    set('tag_row', record.tag_row)
  end
  if owners ~= '' then
    set('owners', owners)
  end
  if session ~= '' then
    set('session', session)
    set('session_since', record.session_since)
  end
end
if price ~= '' then
  set('price', price)
end
if taken_tokens then
  local taken = exists and redis.call('HGET', request, 'tokens_taken') or taken_tokens .. ' 0'
  local taken_input, taken_output, taken_or_reserved = string.match(taken, '^(%d+) (%d+) ?(%d*)$')
  local input, own_output = tonumber(used_input) - tonumber(taken_input), tonumber(used_output) - tonumber(taken_output)
  local token_buckets, FIRST_TOKEN_BUCKET, shared_output = {}, 1, tonumber(used_output)
  for position = FIRST_BUCKET_MET, #list, 3 do
-- @row token-count list position
    local output = own_output
    if reserved ~= '0' then
      -- Until the final charge, at least the reserved tokens count as taken.
      shared_output = final and tonumber(used_output) or math.max(tonumber(used_output), tonumber(reserved))
      output = shared_output - tonumber(taken_or_reserved ~= '' and taken_or_reserved or reserved)
    end
    local difference = count == 'total:used' and input + output or count == 'input:used' and input or output
    for _, text in ipairs({ hash, count, integer(difference) }) do
      token_buckets[#token_buckets + 1] = text
    end
  end
-- @include take-tokens.lua
  set('tokens_taken', used_input .. ' ' .. used_output .. ' ' .. integer(shared_output))
end
if record.reaped and open then
  set('reaped', '')
end
if final then
  set('final', '1')
  set('entry', add_recent(recent, record.entry, request_id, entry))
  redis.call('ZREM', open_requests, request_id)
  redis.call('ZREM', inflight, request_id)
elseif record.reaped and not open then
  -- Writes the entry that the closing worker would have written with these figures.
  local listed_price = price ~= '' and price or record.price
  set('entry', add_recent(recent, record.entry, request_id, reaped_entry(record, totals, listed_price)))
elseif not exists then
  -- Started without a record, or the record was lost in a failover: it needs a deadline in case its owner dies.
  local deadline_ms = integer(now_milliseconds() + DEADLINE_MS)
  redis.call('ZADD', open_requests, deadline_ms, request_id)
  redis.call('ZADD', inflight, deadline_ms, request_id)
end
redis.call('HSET', request, unpack(fields))
if final or not exists then
  redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
end
local fired = '0'
if (final or total > record.figures[COST_MICROCENTS])
  and not are_alerts_far(organization, of_organization, key_record, record.owners, sums) then
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include thresholds.lua
  fired = fire_alerts(organization, key_record, key_id, record.owners, windows_of(day_number(day), month))
end
return write_list({ 'applied', fired, fell })
