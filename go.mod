module github.com/trawlsearch/trawl

go 1.26.0
