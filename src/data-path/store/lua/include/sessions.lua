-- Sessions: runs of an agent. A client names the session of its request, and a cap limits the session's spend.
-- Sessions protect agents from themselves and are no security: a client that uses another name has another session.
--
-- If a cap may apply, admit.lua says so, and a request that names a session needs a record: open-record.lua decides.
-- The cap is the lowest of key's and organization's `session_cap_cents` and of the budgets that clients have sent for
-- it. A session is a hash, named after its key and the SHA-1 of its name: `spent` and `held` (strict caps), microcents;
-- `budget`, cents, the lowest that a client has sent; `since`, ms. It expires a day after its last use. A sorted set
-- has the sessions of a key by their last use, which bounds them: past MAX_SESSIONS a new one has no cap.
--
-- The record of a request has its session's name and `since`. Every change of the request's spend changes its
-- session's by the same difference, unless the session has expired: the next one of its name has another `since`. A
-- request without `since` counts in none.

local SESSION_MS = 86400000
local MAX_SESSIONS = 10000
-- The key's record stores until when one of its sessions may have a client's budget. It is rewritten once an hour.
local BUDGETS_SLACK_MS = 3600000

local function session_hash(organization, key_id, digest)
  return sibling(organization, 'session:' .. key_id .. ':' .. digest)
end

-- Returns the session's cap for comparison by open-record.lua, with the session's hashed name as `hash`; nil without a cap,
-- and then as second value '1' if the reason is that the key has too many sessions. `key_cap`, `organization_cap`,
-- `budget`: cents, '' for none.
local function open_session(organization, key_record, key_id, name, now_ms, key_cap, organization_cap, budget, budgets_until)
  local digest = redis.sha1hex(name)
  local hash = session_hash(organization, key_id, digest)
  local since, spent, held, lowest = unpack(redis.call('HMGET', hash, 'since', 'spent', 'held', 'budget'))
  local cents
  for _, text in ipairs({ key_cap or '', organization_cap or '', lowest or '', budget }) do
    local each = tonumber(text)
    if each and (not cents or each < cents) then
      cents = each
    end
  end
  if not cents then
    return nil, ''
  end
  local live = sibling(organization, 'sessions:' .. key_id)
  if not since then
    redis.call('ZREMRANGEBYSCORE', live, '-inf', integer(now_ms - SESSION_MS))
    if redis.call('ZCARD', live) >= MAX_SESSIONS then
      return nil, '1'
    end
    since = integer(now_ms)
    redis.call('HSET', hash, 'since', since)
  end
  if budget ~= '' and (not lowest or tonumber(budget) < tonumber(lowest)) then
    lowest = budget
    redis.call('HSET', hash, 'budget', budget)
  end
  redis.call('ZADD', live, integer(now_ms), digest)
  redis.call('PEXPIRE', live, SESSION_MS)
  redis.call('PEXPIRE', hash, SESSION_MS)
  if lowest and number_or_zero(budgets_until) < now_ms + SESSION_MS then
    redis.call('HSET', key_record, 'session_budgets_until', integer(now_ms + SESSION_MS + BUDGETS_SLACK_MS))
    -- The next admission finds it among the rare settings (stamp.lua).
    redis.call('HDEL', key_record, 'stamp')
  end
  return { hash = hash, since = since, scope = 'session', subject = 'session', period = 'session', cents = cents, raised = 0,
    spent = spent or '0', held = held or '0' }, ''
end

-- Returns `since` of the session of a request whose record was lost, or never opened. Such a request also starts the
-- session, as open-record.lua would have; '' if no cap applies.
local function session_since(organization, key_record, key_id, name)
  local key_cap, budgets_until = unpack(redis.call('HMGET', key_record, 'session_cap_cents', 'session_budgets_until'))
  local organization_cap = redis.call('HGET', organization, 'session_cap_cents')
  local session = open_session(organization, key_record, key_id, name, now_milliseconds(), key_cap, organization_cap, '',
    budgets_until)
  return session and session.since or ''
end

-- Changes a session's spend and reserved amount by differences in microcents.
local function move_session(organization, key_id, name, since, spent, held)
  if spent == 0 and held == 0 then
    return
  end
  local hash = session_hash(organization, key_id, redis.sha1hex(name))
  if redis.call('HGET', hash, 'since') ~= since then
    return
  end
  if spent ~= 0 then
    redis.call('HINCRBY', hash, 'spent', integer(spent))
  end
  if held ~= 0 then
    redis.call('HINCRBY', hash, 'held', integer(held))
  end
  redis.call('PEXPIRE', hash, SESSION_MS)
end
