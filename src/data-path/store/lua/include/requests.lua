-- Shared code of the transitions of a request's record.

-- Time after which another worker may close the record. The owner renews every 10 s.
local DEADLINE_MS = 30000 -- @wait

local function no_figures()
  local figures = {}
  for position = 1, #USAGE_FIGURES do
    figures[position] = 0
  end
  return figures
end

-- Changes a usage row (see usage_row) from one set of figures to another, both in the order of USAGE_FIGURES.
local function move_usage(usage, row, from, to, expires_at_ms, day, sums_until)
  local differences = {}
  for position = 1, #USAGE_FIGURES do
    differences[position] = integer(to[position] - from[position])
  end
  add_usage(usage, row, differences, expires_at_ms, day, sums_until)
end

-- The positions of the figures of an estimate, and of an entry in the list of recent requests.
-- @figures of-requests

-- Parses the best estimate of a request in flight from its record: figures in the order of ESTIMATED_POSITIONS in one
-- text. Nil without an estimate.
local function parse_estimate(text)
  if not text or text == '' then
    return nil
  end
  local estimate, number = {}, 0
  for figure in string.gmatch(text, '%d+') do
    number = number + 1
    estimate[ESTIMATED_POSITIONS[number]] = tonumber(figure)
  end
  return estimate
end

-- Reads the fields of a record that charge and close need, by name; nil without a record. A request that ended with
-- its first charge has all figures in one text, `totals`, and only the other fields that a charge is compared with.
local function read_request(request)
  local fields = redis.call('HMGET', request, 'state', 'final', 'seq', 'worst', 'left', 'floor', 'floor_input',
    'day', 'key', 'model', 'route', 'entry', 'estimate', 'reaped', 'tags', 'tag_row', 'price', 'totals', 'owners', 'held_in',
    'session', 'session_since', unpack(USAGE_FIGURES))
  if not fields[1] then
    return nil
  end
  local totals, figures = fields[18] or '', {}
  if totals ~= '' then
    for figure in string.gmatch(totals, '%d+') do
      figures[#figures + 1] = tonumber(figure)
    end
  else
    for position = 1, #USAGE_FIGURES do
      figures[position] = number_or_zero(fields[22 + position])
    end
  end
  return {
    state = fields[1], final = fields[2] == '1', seq = number_or_zero(fields[3]), worst = number_or_zero(fields[4]),
    left = number_or_zero(fields[5]), floor = number_or_zero(fields[6]), floor_input = number_or_zero(fields[7]),
    month = string.sub(fields[8], 1, 7), day = fields[8], key = fields[9], model = fields[10], route = fields[11], entry = fields[12],
    figures = figures, estimate = parse_estimate(fields[13]), reaped = fields[14] == '1',
    tags = fields[15] or '', tag_row = fields[16] or '', price = fields[17] or '', has_totals = totals ~= '',
    owners = fields[19] or '', held_in = fields[20] or '', session = fields[21] or '', session_since = fields[22] or '',
  }
end
