-- An entry of the audit log in the step that makes the change, so that no change is without one. `entry` is JSON, '' for
-- none. Some 10 MB for an organization at a kilobyte an entry.
local function add_audit(audit, entry)
  if entry ~= '' then
    redis.call('XADD', audit, 'MAXLEN', '~', '10000', '*', 'entry', entry)
  end
end
