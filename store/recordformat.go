package store

import "github.com/trawlsearch/trawl/store/cluster"

// RecordFormats are the formats of the records of a log that this program reads. The
// format says what the values of records may hold, not where a directory has them:
// that is its FormatVersion.
//
// Format 1 is the first. A field that older programs ignore, and may lose when they
// write the record again, needs no new one. For all else a future program
//
//   - reads both: RecordFormats becomes {1, 2};
//   - writes format 1 until cluster.Nodes.Format returns 2. One node calls
//     cluster.Nodes.Raise with RecordFormats.Newest every minute, which raises the format
//     once each node that was seen within the last minute reads it;
//   - writes format 2 from then on. Old records stay as they are, so it goes on reading
//     both, until a release that no longer does says so.
//
// A node of an older program that was away meanwhile finds that it cannot read the log:
// it gets a cluster.FormatError, shows the version that it has, and confirms no other.
var RecordFormats = cluster.Formats{Lowest: 1, Newest: 1}
