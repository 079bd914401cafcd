-- What the list of recent requests has of one that another has closed: nobody knows how it ended for its client. `price`:
-- checks, JSON, '' when not known.
local function reaped_entry(record, totals, price)
  local texts = write_list({ record.key, record.route, record.model, record.tags, '', '' })
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
  return string.sub(texts, 1, -2) .. ',' .. (price ~= '' and price or 'null') .. ',null,' .. string.sub(write_list(figures), 2)
end
