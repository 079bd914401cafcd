// Reads {"patterns": [...], "texts": [...]} from stdin and writes, for each pattern, which of the texts it finds itself in,
// by Go's regexp, whose syntax is RE2's. A pattern that does not compile ends it with the reason.
package main

import (
	"encoding/json"
	"log"
	"os"
	"regexp"
)

func main() {
	var given struct {
		Patterns []string `json:"patterns"`
		Texts    []string `json:"texts"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		log.Fatal(err)
	}
	found := make([][]bool, len(given.Patterns))
	for place, text := range given.Patterns {
		pattern, err := regexp.Compile(text)
		if err != nil {
			log.Fatal(err)
		}
		found[place] = make([]bool, len(given.Texts))
		for each, candidate := range given.Texts {
			found[place][each] = pattern.MatchString(candidate)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		log.Fatal(err)
	}
}
