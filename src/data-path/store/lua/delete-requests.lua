-- Deletes closed records. Only for their owner, and only after every command of these requests was answered: a
-- later command would be counted from zero.
--
-- KEYS[n] request record
-- ARGV    none
--
-- Reply: how many were deleted. An open record stays.

local closed = {}
for _, request in ipairs(KEYS) do
  if redis.call('HGET', request, 'state') == 'closed' then
    closed[#closed + 1] = request
  end
end
return #closed > 0 and redis.call('DEL', unpack(closed)) or 0
