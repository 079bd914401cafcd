-- What the transitions of a request's record share.

-- Past it, another may close the record. The owner renews every 10 s.
local DEADLINE_MS = 30000

-- How long a closed record answers repeats, late commands and replays (those older than 6 days are not replayed).
local CLOSED_RECORD_MS = 604800000

-- Entries in the list of recent requests.
local RECENT_ENTRIES = 10000

-- Figures of a month go when its retention ends.
local function keep_until(key, expires_at_ms)
  if redis.call('PTTL', key) == -1 then
    redis.call('PEXPIREAT', key, expires_at_ms)
  end
end

-- Moves a month's spend by a difference in microcents. Returns what is spent then, by subject as alerts name them; nil when
-- nothing moved.
local function move_spend(spend, key_id, difference, expires_at_ms)
  if difference == 0 then
    return nil
  end
  local text, key = integer(difference), 'key:' .. key_id
  local spent = { organization = redis.call('HINCRBY', spend, 'organization', text),
    [key] = redis.call('HINCRBY', spend, key, text) }
  -- In a hash that has just come to be, every field began with this difference.
  if spent.organization == difference then
    keep_until(spend, expires_at_ms)
  end
  return spent
end

-- Moves what is held for requests in flight (strict caps) by a difference in microcents.
local function move_held(spend, key_id, difference)
  if difference ~= 0 then
    redis.call('HINCRBY', spend, 'held:organization', integer(difference))
    redis.call('HINCRBY', spend, 'held:key:' .. key_id, integer(difference))
  end
end

-- The figures of a usage row, which are also fields of a request's record. Records and rows of schema 1 have the first
-- seven; what is not there is 0.
local USAGE_FIGURES = { 'requests', 'input', 'cached', 'output', 'reasoning', 'estimated', 'microcents', 'cache_write',
  'cache_write_1h', 'input_audio', 'output_audio' }

local function no_figures()
  local figures = {}
  for position = 1, #USAGE_FIGURES do
    figures[position] = 0
  end
  return figures
end

-- What the fields of a usage row begin with. `tag_row`: '' for requests without tags.
local function usage_row(key_id, model, tag_row)
  return key_id .. ':' .. model .. (tag_row ~= '' and '#' .. tag_row or '') .. ':'
end

-- Moves a usage row from one set of figures to another, both in the order of USAGE_FIGURES.
local function move_usage(usage, key_id, model, tag_row, from, to, expires_at_ms)
  local row = usage_row(key_id, model, tag_row)
  local is_new = false
  for position, figure in ipairs(USAGE_FIGURES) do
    local difference = to[position] - from[position]
    if difference ~= 0 and redis.call('HINCRBY', usage, row .. figure, integer(difference)) == difference then
      is_new = true
    end
  end
  -- As in move_spend: only then can the hash be one that has just come to be.
  if is_new then
    keep_until(usage, expires_at_ms)
  end
end

-- The best estimate of a request in flight, which its record keeps as two texts: tokens and microcents in the order of
-- USAGE_FIGURES, without requests and estimated; and the figures behind them, which programs of schema 1 do not read. Nil
-- when there is none.
local function parse_estimate(text, further)
  if not text or text == '' then
    return nil
  end
  local input, cached, output, reasoning, microcents = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  local estimate = { [2] = tonumber(input), [3] = tonumber(cached), [4] = tonumber(output), [5] = tonumber(reasoning),
    [7] = tonumber(microcents) }
  local position = 7
  for figure in string.gmatch(further or '', '%d+') do
    position = position + 1
    estimate[position] = tonumber(figure)
  end
  return estimate
end

-- The fields of a record that charge and close need, by name; nil when there is no record.
local function read_request(request)
  local fields = redis.call('HMGET', request, 'state', 'final', 'seq', 'worst', 'left', 'floor', 'floor_input', 'month',
    'day', 'key', 'model', 'route', 'entry', 'requests', 'input', 'cached', 'output', 'reasoning', 'estimated',
    'microcents', 'cache_write', 'cache_write_1h', 'input_audio', 'output_audio', 'estimate', 'reaped', 'tags',
    'tag_row', 'estimate_further', 'price')
  if not fields[1] then
    return nil
  end
  local figures = {}
  for position = 1, #USAGE_FIGURES do
    figures[position] = number_or_zero(fields[13 + position])
  end
  return {
    state = fields[1], final = fields[2] == '1', seq = number_or_zero(fields[3]), worst = number_or_zero(fields[4]),
    left = number_or_zero(fields[5]), floor = number_or_zero(fields[6]), floor_input = number_or_zero(fields[7]),
    month = fields[8], day = fields[9], key = fields[10], model = fields[11], route = fields[12], entry = fields[13],
    figures = figures, estimate = parse_estimate(fields[25], fields[29]), reaped = fields[26] == '1',
    tags = fields[27] or '', tag_row = fields[28] or '', price = fields[30] or '',
  }
end

-- Puts a request on the list of recent ones, in the place of an entry that it had. Returns the entry's id.
local function add_recent(stream, former_entry, request_id, key_id, route, model, tags, figures, status, error_code,
  checks, way)
  if former_entry then
    redis.call('XDEL', stream, former_entry)
  end
  return redis.call('XADD', stream, 'MAXLEN', '~', RECENT_ENTRIES, '*', 'id', request_id, 'key', key_id,
    'route', route, 'model', model, 'tags', tags, 'status', status, 'error', error_code, 'checks', checks, 'way', way,
    'input', integer(figures[2]), 'cached', integer(figures[3]), 'output', integer(figures[4]),
    'reasoning', integer(figures[5]), 'estimated', integer(figures[6]), 'microcents', integer(figures[7]))
end
