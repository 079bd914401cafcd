-- Writes an entry of an audit log in the same step as the change, so that every change has one. `entry` is JSON, ''
-- for none. Each role has its own log: only holders of the role can push out its entries. The log's key ends with its
-- kind and the role. It loses entries older than 400 days, and a tenth of its entries, oldest first, while it needs
-- more memory in Redis than its kind may have.

local AUDIT_MS = 34560000000
local MAX_BYTES = { changes = 4194304, ['sign-ins'] = 1048576 }

local function add_audit(audit, entry)
  if entry == '' then
    return
  end
  local id = redis.call('XADD', audit, '*', 'entry', entry)
  local oldest_ms = tonumber(string.match(id, '^%d+')) - AUDIT_MS
  redis.call('XTRIM', audit, 'MINID', '~', string.format('%.0f', oldest_ms))
  redis.call('PEXPIRE', audit, AUDIT_MS)
  local most_bytes = MAX_BYTES[string.match(audit, '([^:]+):[^:]+$')]
  local entries = redis.call('XLEN', audit)
  while entries > 1 and redis.call('MEMORY', 'USAGE', audit, 'SAMPLES', 0) > most_bytes do
    redis.call('XTRIM', audit, 'MAXLEN', math.floor(entries * 0.9))
    entries = redis.call('XLEN', audit)
  end
end
