-- Number of deleted keys, users and groups of an organization whose records are kept until they expire, newest first.
local MAX_DELETED = 10000

-- Deletes older records at once, so that their figures no longer have a name.
local function bound_deleted(record, expires_at_ms)
  local prefix, name = string.match(record, '^(igw:{[^}]*}:)(.+)$')
  local list = prefix .. 'deleted'
  redis.call('ZADD', list, integer(now_milliseconds()), name)
  redis.call('PEXPIREAT', list, expires_at_ms)
  if redis.call('ZCARD', list) > MAX_DELETED then
    redis.call('UNLINK', prefix .. redis.call('ZPOPMIN', list)[1])
  end
end
