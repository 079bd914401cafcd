-- Returns a function that visits the caps in force among an owner's limits and raises (limits.lua). `visit` gets each
-- cap: scope, subject, period, cents, cents as text, raised cents, spend, and the reserved amount ('0' unless caps are
-- strict). `number`: of the day.
local function create_cap_reader(organization, number, month, now_ms, strict, visit)
  -- Windows of the day; computed for the first cap whose period is not the month.
  local windows
  return function(scope, subject, limits, raises)
    for period, kind, text in string.gmatch(limits, '(%a+) (%a+) (%d+)') do
      if kind == 'cap' then
        local window = month
        if period ~= 'month' then
          if not windows then
-- @include windows.lua
            windows = windows_of(number, month)
          end
          window = windows[period]
        end
        local cents, raised = tonumber(text), 0
        if raises ~= '' then
-- @include raises.lua
          cents, raised = raised_cap(cents, raises, period, now_ms)
          text = integer(cents)
        end
        local spend = sibling(organization, 'spend:' .. window)
        visit(scope, subject, period, cents, text, raised, redis.call('HGET', spend, subject) or '0',
          strict and redis.call('HGET', spend, 'held:' .. subject) or '0')
      end
    end
  end
end
