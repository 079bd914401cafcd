-- Starts to count spend in windows of these periods, unless the organization counts them already: from now on each
-- charge updates them. seed-windows.lua adds earlier spend, and finish-windows.lua marks the windows as complete.
--
-- KEYS[1] organization
-- ARGV[1..] each period with the first window that will be whole: "day=day:20783"
--
-- Reply: {'not_found'}; {'seeding', period, period …}: those of them that are not whole yet. May be repeated.

-- @input

local version, windows, seeding = unpack(redis.call('HMGET', organization, 'version', 'windows', 'windows_seeding'))
if not version then
  return { 'not_found' }
end
windows, seeding = windows or '', seeding or ''
local reply = { 'seeding' }
for _, wanted in ipairs({ unpack(ARGV, FIRST_FURTHER_ARGUMENT) }) do
  local period = string.match(wanted, '^%a+=')
  if not string.find(windows, period, 1, true) then
    if not string.find(seeding, period, 1, true) then
      seeding = seeding .. (seeding ~= '' and ' ' or '') .. wanted
    end
    reply[#reply + 1] = string.sub(period, 1, -2)
  end
end
redis.call('HSET', organization, 'windows_seeding', seeding)
return reply
