-- The month's limits of a key or an organization, which have fields of their own (limits.lua has all others): budget and hard
-- cap, cents as they stand there, and then the fields of these names.
local function read_amounts(record, ...)
  return unpack(redis.call('HMGET', record, 'budget_cents', 'hard_cap_cents', ...))
end
