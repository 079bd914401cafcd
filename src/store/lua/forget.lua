-- Deletes closed records. Only the owner, and only once every command of these requests was answered: whatever comes
-- after it would be counted from zero.
--
-- KEYS[n] request record
-- ARGV    none
--
-- Reply: how many were deleted. An open record stays.

local deleted = 0
for _, request in ipairs(KEYS) do
  if redis.call('HGET', request, 'state') == 'closed' then
    redis.call('DEL', request)
    deleted = deleted + 1
  end
end
return deleted
