-- Fires an alert that no threshold of spend fires: a forecast, sudden spend or a summary. Once for its subject and window.
--
-- KEYS[1] organization        KEYS[2] list of alerts
-- KEYS[3] outbox of alerts    KEYS[4] hash of what has fired in a month
-- ARGV[1] what fires, "organization sudden_spend 2026-11-23"  ARGV[2] when the hash expires, ms
-- ARGV[3..] fields of the alert
--
-- Reply: {'fired'}; {'repeated'}: it has fired before; {'not_found'}: no such organization, or it is deleted.

-- @include integer.lua
-- @include alert-message.lua

-- @input

local version, deleted_at = unpack(redis.call('HMGET', organization, 'version', 'deleted_at'))
if not version or (deleted_at or '') ~= '' then
  return { 'not_found' }
end
if redis.call('HSETNX', fired, once, '1') == 0 then
  return { 'repeated' }
end
redis.call('PEXPIREAT', fired, expires_at_ms)
write_message(list, outbox, { { unpack(ARGV, FIRST_FURTHER_ARGUMENT) } })
announce_message(organization)
return { 'fired' }
