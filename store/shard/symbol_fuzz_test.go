package shard

import (
	"fmt"
	"testing"
)

func FuzzSymbols(f *testing.F) {
	f.Add([]byte("\x01\x04func\x03\x02\x01\x00\x00\x04fire"))
	f.Fuzz(func(t *testing.T, value []byte) {
		symbols, err := decodeSymbols(nil, value)
		if err != nil || len(symbols) == 0 {
			return
		}
		for i, s := range symbols {
			if i > 0 && s.Line < symbols[i-1].Line {
				return // line numbers that overflow are never written
			}
		}
		again, err := decodeSymbols(nil, appendSymbols(nil, symbols))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(symbols) {
			t.Errorf("got %v, %v; want %v", again, err, symbols)
		}
	})
}
