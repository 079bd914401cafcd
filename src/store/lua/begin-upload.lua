-- May the body of an admitted request be sent? What is on its way counts by the length that was declared, for its key and its
-- organization, until it has come, its request has ended or its time is over. A body beside which there is no other is always
-- taken, whatever its size.
--
-- KEYS[1] uploads (bodies on their way by deadline)      KEYS[2] bytes on their way
-- ARGV[1] request id            ARGV[2] key id           ARGV[3] bytes of the body
-- ARGV[4] most bytes of a key   ARGV[5] most bytes of an organization
-- ARGV[6] how long it counts at most, ms
--
-- Reply: 'begun', or what has as many bytes on their way as it may: 'key' or 'organization'; nothing is counted then.
--
-- Keeps: the bytes of a key, and of the organization, are the sum of those of its uploads.

-- @include integer.lua
-- @include time.lua
-- @include uploads.lua

-- @input

local now_ms = now_milliseconds()
for _, upload in ipairs(redis.call('ZRANGEBYSCORE', uploads, '-inf', integer(now_ms))) do
  end_upload(uploads, bytes_on_way, upload)
end

local of_key, of_organization = unpack(redis.call('HMGET', bytes_on_way, 'key:' .. key_id, 'organization'))
local key_bytes, organization_bytes = number_or_zero(of_key), number_or_zero(of_organization)
if key_bytes > 0 and key_bytes + bytes > key_limit then
  return 'key'
end
if organization_bytes > 0 and organization_bytes + bytes > organization_limit then
  return 'organization'
end
redis.call('ZADD', uploads, integer(now_ms + counts_for_ms), upload_of(request_id, key_id, bytes))
redis.call('HINCRBY', bytes_on_way, 'key:' .. key_id, integer(bytes))
redis.call('HINCRBY', bytes_on_way, 'organization', integer(bytes))
-- Nothing is left of an organization that sends no more: by then every upload's time is over.
redis.call('PEXPIRE', uploads, integer(2 * counts_for_ms))
redis.call('PEXPIRE', bytes_on_way, integer(2 * counts_for_ms))
return 'begun'
