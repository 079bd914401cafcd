-- Writes the list without its brackets, for lists that also have members of other kinds.
local function write_members(texts)
  return string.sub(write_list(texts), 2, -2)
end

-- Returns the entry for recent requests of a request that another worker has closed: its outcome for the client is
-- unknown. `price`: checks, JSON, '' if unknown.
local function reaped_entry(record, totals, price)
  local figures = {}
  for number, position in ipairs(LISTED_POSITIONS) do
    figures[number] = integer(totals[position])
  end
  if record.owners ~= '' or record.session ~= '' then
    figures[#figures + 1] = record.owners
  end
  if record.session ~= '' then
    figures[#figures + 1] = record.session
  end
  local checks, trace = price ~= '' and price or 'null', 'null'
-- @names recent-texts
  local subject = {}
  for number, name in ipairs(RECENT_TEXTS) do
    -- A record has neither status nor error.
    subject[number] = record[name] or ''
  end
  return '[' .. table.concat({ write_members(subject), checks, trace, write_members(figures) }, ',') .. ']'
end
