-- One body on its way, as a member of its organization's uploads.
local function upload_of(request_id, key_id, bytes)
  return request_id .. ' ' .. key_id .. ' ' .. integer(bytes)
end

local function give_back(bytes_on_way, field, bytes)
  if redis.call('HINCRBY', bytes_on_way, field, '-' .. bytes) <= 0 then
    redis.call('HDEL', bytes_on_way, field)
  end
end

-- Gives back what it counts; 0 when it does not any more.
local function end_upload(uploads, bytes_on_way, upload)
  if redis.call('ZREM', uploads, upload) == 0 then
    return 0
  end
  local key_id, bytes = string.match(upload, '^%S+ (%S+) (%d+)$')
  give_back(bytes_on_way, 'key:' .. key_id, bytes)
  give_back(bytes_on_way, 'organization', bytes)
  return 1
end
