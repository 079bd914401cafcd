-- Corrects the tokens taken from buckets (token-buckets.lua) once more is known. `token_buckets` has, from
-- FIRST_TOKEN_BUCKET on, for each bucket its hash, its count and the difference to what was taken, a text. Does not
-- read the level: the next admission subtracts the difference from it.
-- Reads: token_buckets, FIRST_TOKEN_BUCKET, USED_FROM
-- Changes: none

for position = FIRST_TOKEN_BUCKET, #token_buckets, 3 do
-- @row token-difference token_buckets position
  if difference ~= '0' and redis.call('HINCRBY', hash, count, difference) < USED_FROM / 2
    and redis.call('HEXISTS', hash, string.match(count, '%a+')) == 0 then
    -- A missing bucket is full.
    redis.call('HDEL', hash, count)
  end
end
