-- Reads the caps in force of these owners (limits.lua), narrowest scope first, with their spend and, if caps are
-- strict, reserved amounts on this day. One command per period. `text`: the cents. `number`: of the day.
local function read_caps(organization, owners, number, month, now_ms, strict)
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
        local window = month
        if period ~= 'month' then
-- @include windows.lua
          window = windows_of(number, month)[period]
        end
        sums = redis.call('HMGET', sibling(organization, 'spend:' .. window), unpack(fields))
        read[period] = sums
      end
      local cents, raised = tonumber(text), 0
      if owner.raises ~= '' then
-- @include raises.lua
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
