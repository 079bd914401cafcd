-- Calls `visit` with each cap in force of these owners (limits.lua), narrowest scope first: owner, period, cents, cents as
-- text, raised cents, spend, and the reserved amount ('0' unless caps are strict). One command per period. `number`: of the
-- day.
local function each_cap(organization, owners, number, month, now_ms, strict, visit)
  local fields, read = {}, {}
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
    for period, kind, text in string.gmatch(owner.limits, '(%a+) (%a+) (%d+)') do
      if kind == 'cap' then
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
        visit(owner, period, cents, text, raised, sums[place] or '0', strict and sums[place + 1] or '0')
      end
    end
  end
end
