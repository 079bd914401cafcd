-- Deletes an organization's token and writes an entry in the audit log.
--
-- KEYS[1] token record        KEYS[2] list of the organization's tokens       KEYS[3] audit log
-- ARGV[1] token id            ARGV[2] audit entry, '' for none
--
-- Reply: 1; 0 when there was no such token.

-- @include audit.lua

-- @input

if redis.call('DEL', token_record) == 0 then
  return 0
end
redis.call('ZREM', token_list, token_id)
add_audit(audit, audit_entry)
return 1
