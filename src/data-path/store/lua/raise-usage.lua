-- Raises the usage rows of a day, key, its owners and model to the figures of the request log, and the spend of the
-- month and other windows with them: for a Redis that was restored from an older snapshot.
--
-- KEYS[1] usage of the day     KEYS[2] open requests by deadline
-- KEYS[3] combinations of tags in the month    KEYS[4] organization
-- ARGV[1] key id              ARGV[2] model                ARGV[3] when the month's figures expire, ms
-- ARGV[4] owners, '' for none              ARGV[5] day
-- ARGV[6] how many rows the log has, one for each combination of tags; then for each row: tag row and tags, '' for
--   none, and the figures to raise to in the order of USAGE_FIGURES
-- ARGV[n] then the tag rows that only Redis has
--
-- Reply: {'raised', added microcents}; {'enough'}: nothing is missing; {'in_flight'}: requests of the organization are
--   in flight, nothing was changed.
--
-- Guarantees: spend in all windows and usage move by the same amount; no figure is ever lowered, and none is
-- raised above what the log says of all rows together, so that a repeat changes nothing, and a request that the log and
-- Redis have in rows of different tags does not count twice.

-- @include integer.lua
-- @include time.lua
-- @include spend.lua
-- @include requests.lua
-- @include tags.lua
-- @include owners.lua
-- @include counters.lua

-- @input
local FIRST_ROW = FIRST_FURTHER_ARGUMENT
local ROW_ARGUMENTS = 2 + #USAGE_FIGURES

if redis.call('ZCARD', open_requests) > 0 then
  return { 'in_flight' }
end

local function read_row(tag_row)
  local figures = {}
  for position, figure in ipairs(USAGE_FIGURES) do
    figures[position] = number_or_zero(redis.call('HGET', usage, usage_row(key_id, owners, model, tag_row) .. figure))
  end
  return figures
end

local rows, missing = {}, {}
for position = 1, #USAGE_FIGURES do
  missing[position] = 0
end
for number = 1, logged_rows do
  local first = FIRST_ROW + (number - 1) * ROW_ARGUMENTS
-- @row logged-row ARGV first FIRST_FIGURE
  local row = { tag_row = tag_row, tags = tags, wanted = {}, from = read_row(tag_row) }
  for position = 1, #USAGE_FIGURES do
    row.wanted[position] = tonumber(ARGV[FIRST_FIGURE + position - 1])
    missing[position] = missing[position] + row.wanted[position] - row.from[position]
  end
  rows[number] = row
end
for argument = FIRST_ROW + logged_rows * ROW_ARGUMENTS, #ARGV do
  for position, figure in ipairs(read_row(ARGV[argument])) do
    missing[position] = missing[position] - figure
  end
end

local added, is_raised = 0, false
local subjects = subjects_of(key_id, owners)
local windows, seeding, sums_until = unpack(redis.call('HMGET', organization, 'windows', 'windows_seeding', 'sums_until'))
for _, row in ipairs(rows) do
  local to, is_row_raised = {}, false
  for position = 1, #USAGE_FIGURES do
    local raise = math.max(0, math.min(missing[position], row.wanted[position] - row.from[position]))
    missing[position] = missing[position] - raise
    to[position] = row.from[position] + raise
    is_row_raised = is_row_raised or raise > 0
  end
  if is_row_raised then
    decide_tag_row(combinations, key_id, row.tags, row.tag_row, expires_at_ms)
    local name = usage_row(key_id, owners, model, row.tag_row)
    move_usage(usage, name, row.from, to, expires_at_ms, day, sums_until)
    local difference = to[COST_MICROCENTS] - row.from[COST_MICROCENTS]
    if difference ~= 0 then
      move_spend(organization, windows, seeding, day, subjects, name, integer(difference), expires_at_ms)
    end
    added = added + difference
    is_raised = true
  end
end
if not is_raised then
  return { 'enough' }
end
return { 'raised', integer(added) }
