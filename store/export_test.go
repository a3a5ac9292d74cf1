package store

// DecodeSymbols and EncodeSymbols are for fuzzing.
func DecodeSymbols(value []byte) ([]Symbol, error) { return decodeSymbols(nil, value) }

// EncodeSymbols is the opposite.
func EncodeSymbols(symbols []Symbol) []byte { return appendSymbols(nil, symbols) }
