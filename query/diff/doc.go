// Package diff reads and shows what commits changed. The stored diff of a file
// comes in as text, and its changed lines go out one by one, for patterns to be
// tried on. The files of a commit come in with their matches, and a preview
// goes out: the few lines that a person is shown, with the positions of the
// matches in it. query/search calls it; httpapi and cmd read previews with it.
//
// It knows neither patterns nor commits, and takes diffs as they come: text
// that is no diff yields lines and previews that make no sense, but nothing
// worse.
//
// A preview has a line with both paths for each file, and below it hunks whose
// headers count the lines that are shown:
//
//	src/kiln.go src/kiln.go
//	@@ -11,2 +11,2 @@ func fire()
//	 	load()
//	-	dip("slip")
//	+	dip("glaze")
package diff
