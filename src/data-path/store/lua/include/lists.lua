-- Lists of texts as one text (JSON). A client writes and reads a command text by text, which costs it more than the script
-- costs here. Texts only: of a number cjson loses digits. No text that somebody else wrote: half a surrogate pair is read by nobody.
local function read_list(text)
  return cjson.decode(text)
end

local function write_list(texts)
  return cjson.encode(texts)
end

-- The same without its brackets: for a list that has members of other kinds beside texts.
local function write_members(texts)
  return string.sub(write_list(texts), 2, -2)
end
