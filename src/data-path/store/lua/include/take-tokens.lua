-- What requests that meet limits of tokens per minute (token-buckets.lua) take of them once more is known. A piece of its script,
-- which is given `token_buckets`: from FIRST_TOKEN_BUCKET on of each bucket its hash, its count and the difference, a text, to
-- what was taken of it. Nothing is read: the next admission takes it of the level.

for position = FIRST_TOKEN_BUCKET, #token_buckets, 3 do
-- @row token-difference token_buckets position
  if difference ~= '0' and redis.call('HINCRBY', hash, count, difference) < USED_FROM / 2
    and redis.call('HEXISTS', hash, string.match(count, '%a+')) == 0 then
    -- A bucket that is not there is full.
    redis.call('HDEL', hash, count)
  end
end
