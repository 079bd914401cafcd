-- Reads a list of texts from one text (JSON). Clients write and read a command text by text, which costs more than
-- parsing here. Only texts: cjson loses digits of numbers. Only our own texts: cjson cannot read half a surrogate
-- pair.
local function read_list(text)
  return cjson.decode(text)
end

local function write_list(texts)
  return cjson.encode(texts)
end
