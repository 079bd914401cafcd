-- Charges requests that end with their first charge, before Redis has a record of them. Most requests do; those of
-- one turn with the same usage row share a command, which costs little more than a single one. charge.lua applies
-- all other charges, and all later charges of these requests.
--
-- KEYS[1] open requests                KEYS[2] usage of the day of admission
-- KEYS[3] requests in flight of the key   KEYS[4] recent requests   KEYS[5] key record   KEYS[6] organization
-- KEYS[7] combinations of tags in the month of admission; then each request's record
-- ARGV[1] the JSON of the list of these
--   1 key id   2 month of admission   3 day of admission   4 model   5 tags, '' for none   6 tag row, '' if unknown
--   7 when the month's figures expire, ms   8 currency, '' if unknown   9 owners, '' for none
--   10 sums over all requests, a list in the order of USAGE_FIGURES
--   Only so far when they meet no token buckets (token-buckets.lua).
--   11.. of each token bucket that they meet: its hash, its count, the difference to what admissions took of it
-- ARGV[n] then for each request: its id, sequence number, own figures in the order of the sums with one space between, and
--   what the list of recent requests gets, see requests/recent-entry.ts
--
-- Reply: JSON of {'applied', alerts fired}; {'on_record'}: one of them has a record, and nothing was changed.
-- Error: MISMATCH when the organization is billed in another currency.
--
-- Guarantees the same as charge.lua.

-- @include integer.lua
-- @include lists.lua
-- @include spend.lua
-- @include currency.lua
-- @include ended.lua
-- @include owners.lua
-- @include counters.lua
-- @include cap-rule.lua
-- @include reached.lua
-- @include token-units.lua

-- @input
local shared = read_list(shared_text)
-- @row single-charges shared 1 FIRST_TOKEN_BUCKET
local microcents = figures_of_all[COST_MICROCENTS]

if redis.call('EXISTS', unpack(KEYS, FIRST_FURTHER_KEY)) > 0 then
  return '["on_record"]'
end
local of_organization = redis.call('HMGET', organization, 'limits', 'member_limits', 'currency', 'windows', 'windows_seeding',
  'sums_until')
local billed_in, windows, seeding, sums_until = unpack(of_organization, 3)
if is_other_currency(billed_in, currency) then
  return redis.error_reply(OTHER_CURRENCY)
end

if tags ~= '' then
-- @include tags.lua
  tag_row = decide_tag_row(combinations, key_id, tags, tag_row, expires_at_ms)
end
-- All totals started at 0, so the sums are the differences, and the texts can be used as they are.
local row = usage_row(key_id, owners, model, tag_row)
add_usage(usage, row, figures_of_all, expires_at_ms, day, sums_until)
local sums = {}
if microcents ~= '0' then
  sums = move_spend(organization, windows, seeding, day, subjects_of(key_id, owners), row, microcents, expires_at_ms)
end

local token_buckets = shared
-- @include take-tokens.lua

local ids = {}
for place = FIRST_FURTHER_KEY, #KEYS do
  local request = KEYS[place]
  local first = FIRST_FURTHER_ARGUMENT + 4 * (place - FIRST_FURTHER_KEY)
-- @row single-charge ARGV first
  ids[#ids + 1] = id
  -- Kept for a short time for repeated and late charges: figures as one text, and the fields that a charge is compared
  -- with.
  redis.call('HSET', request, 'state', 'closed', 'final', '1', 'seq', seq, 'key', key_id, 'day', day, 'model', model,
    'totals', figures, 'entry', add_recent(recent, nil, id, entry))
  if owners .. tag_row ~= '' then
    redis.call('HSET', request, 'owners', owners, 'tag_row', tag_row)
  end
  redis.call('PEXPIRE', request, CLOSED_RECORD_MS)
end
redis.call('ZREM', open_requests, unpack(ids))
redis.call('ZREM', inflight, unpack(ids))
if are_alerts_far(organization, of_organization, key_record, owners, sums) then
  return '["applied","0"]'
end

-- Behind the usual return.
-- @include time.lua
-- @include windows.lua
-- @include raises.lua
-- @include inherited-limits.lua
-- @include limits.lua
-- @include thresholds.lua

return write_list({ 'applied', fire_alerts(organization, key_record, key_id, owners, windows_of(day_number(day), month)) })
