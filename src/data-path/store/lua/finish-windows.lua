-- Marks an organization's windows of a period as complete: all earlier spend has been added.
--
-- KEYS[1] organization        KEYS[2] seeded spend of the period
-- ARGV[1] period
--
-- Reply: 1; 0 if they already were.

-- @input

local windows, seeding = unpack(redis.call('HMGET', organization, 'windows', 'windows_seeding'))
local whole, remaining = nil, {}
for text in string.gmatch(seeding or '', '[^ ]+') do
  if string.match(text, '^%a+') == period then
    whole = text
  else
    remaining[#remaining + 1] = text
  end
end
redis.call('UNLINK', seed)
if not whole then
  return 0
end
windows = windows or ''
redis.call('HSET', organization, 'windows', windows .. (windows ~= '' and ' ' or '') .. whole, 'windows_seeding',
  table.concat(remaining, ' '))
return 1
