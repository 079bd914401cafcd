-- The caps in force of these owners (limits.lua), the narrowest owner's first, with what is spent and, if caps are strict,
-- reserved in these windows. One command for each period. `text`: the cents.
local function read_caps(organization, owners, windows, now_ms, strict)
  local caps, fields, read = {}, {}, {}
  local width = strict and 2 or 1
  for position = 1, #owners do
    local subject = owners[position].subject
    fields[#fields + 1] = subject
    if strict then
      fields[#fields + 1] = 'held:' .. subject
    end
  end
  for position = 1, #owners do
    local owner = owners[position]
    for period, text in string.gmatch(owner.limits, '(%a+) cap (%d+)') do
      local sums = read[period]
      if not sums then
        sums = redis.call('HMGET', sibling(organization, 'spend:' .. windows[period]), unpack(fields))
        read[period] = sums
      end
      local cents, raised = tonumber(text), 0
      if owner.raises ~= '' then
        cents, raised = raised_cap(cents, owner.raises, period, now_ms)
        text = integer(cents)
      end
      local place = width * (position - 1) + 1
      caps[#caps + 1] = { scope = owner.scope, subject = owner.subject, period = period, cents = cents, text = text,
        raised = raised, spent = sums[place] or '0', held = strict and sums[place + 1] or '0' }
    end
  end
  return caps
end
