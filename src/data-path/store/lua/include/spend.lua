-- Usage of a day: its rows, and the sums that are stored for a past day (store-sums.lua).

-- Sets the expiry of a month's figures to the end of its retention.
local function expire_at(key, expires_at_ms)
  if redis.call('PTTL', key) == -1 then
    redis.call('PEXPIREAT', key, expires_at_ms)
  end
end

-- USAGE_FIGURES: the figures of a usage row, which are also fields of a request's record, in the order of their positions;
-- and the positions that scripts go by. Made of the table in usage/figures.ts. A figure that is missing is 0.
-- @figures of-rows

-- Returns the prefix of a usage row's fields. `owners`: see owners.lua; `tag_row`: '' for requests without tags.
local function usage_row(key_id, owners, model, tag_row)
  return key_id .. (owners ~= '' and '.' .. owners or '') .. ':' .. model .. (tag_row ~= '' and '#' .. tag_row or '') .. ':'
end

-- Deletes the stored sums of a day, because one of its rows changes. `sums_until`: the last day of the organization for
-- which sums were stored; false: none.
local function delete_sums(usage, day, sums_until)
  if sums_until and day <= sums_until then
    redis.call('DEL', usage .. ':sums')
  end
end

-- Adds differences to a usage row: texts in the order of USAGE_FIGURES. (One HMGET and one HSET would take longer,
-- because of the conversions from and to numbers.)
local function add_usage(usage, row, texts, expires_at_ms, day, sums_until)
  delete_sums(usage, day, sums_until)
  local sum, added
  for position = 1, #USAGE_FIGURES do
    local text = texts[position]
    if text ~= '0' then
      sum, added = redis.call('HINCRBY', usage, row .. USAGE_FIGURES[position], text), text
    end
  end
  -- As in move_windows: only a new hash starts with this difference.
  if added and sum == tonumber(added) then
    expire_at(usage, expires_at_ms)
  end
end
