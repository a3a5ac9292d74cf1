package bench

// ZoektQuery is what zoekt is asked; its stand-in recognizes queries by it.
var ZoektQuery = zoektQuery
