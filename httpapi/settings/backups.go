package settings

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

// destinationPatience is how long the page waits for the destination of backups: a
// bucket may be far away, or gone.
const destinationPatience = 3 * time.Second

// backupsData is what the page of backups shows.
type backupsData struct {
	frame
	paging
	manage.BackupStatus
	Backups []backupRow
	// Checking says that a backup is being verified.
	Checking bool
}

// backupRow is a line of the list.
type backupRow struct {
	backup.Summary
	// Program and Problem are bounded: the destination may say anything.
	Program, Problem string
	// Check is nil if the backup was not verified.
	Check *manage.BackupCheck
}

func (d *backupsData) fill(v *visit) (err error) {
	if v.Backups == nil {
		return errOpening
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), destinationPatience)
	defer cancel()
	if d.BackupStatus, err = v.BackupStatus(ctx); err != nil {
		return err
	}
	for _, c := range d.Checks {
		d.Checking = d.Checking || c.Ended.IsZero()
	}
	d.paging = newPaging(v.r, d.Path, len(d.Stored.All))
	for _, b := range shown(d.paging, d.Stored.All) {
		row := backupRow{Summary: b, Program: brief(b.Program)}
		if b.Err != nil {
			row.Problem = brief(redact.Text(b.Err.Error()))
		}
		if c, ok := d.Checks[b.ID]; ok {
			row.Check = &c
		}
		d.Backups = append(d.Backups, row)
	}
	return nil
}

// Bytes, Took and Brief write what people read.
func (*backupsData) Bytes(n int64) string { return bytesText(float64(n)) }
func (*backupsData) Took(millis int64) string {
	return lastingText(time.Duration(millis) * time.Millisecond)
}
func (*backupsData) Brief(text string) string { return brief(text) }

// Every is the time between two backups, as the configuration file has it.
func (d *backupsData) Every() string {
	text := d.Plan.Every.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Keeps says which backups stay after each new one.
func (d *backupsData) Keeps() string {
	var rules []string
	k := d.Plan.Keep
	for _, r := range []struct {
		most int
		of   string
	}{{k.Last, "last"}, {k.Daily, "daily"}, {k.Weekly, "weekly"}, {k.Monthly, "monthly"}, {k.Yearly, "yearly"}} {
		if r.most > 0 {
			rules = append(rules, strconv.Itoa(r.most)+" "+r.of)
		}
	}
	if rules == nil {
		return "all"
	}
	return strings.Join(rules, ", ")
}

// phaseWords are the phases of work on backups as people read them.
var phaseWords = map[string]string{
	"": "beginning, or deleting those that are not kept", backup.PhaseWait: "waiting for a prune at the destination", backup.PhaseSend: "sending", backup.PhaseVerify: "reading",
}

// Progress says how far work on a backup is.
func (*backupsData) Progress(p manage.BackupProgress) string {
	text := phaseWords[p.Phase]
	if p.TotalBytes > 0 {
		text += fmt.Sprintf(" %s of %s", bytesText(float64(p.DoneBytes)), bytesText(float64(p.TotalBytes)))
	}
	return text
}

// backUpNow begins a backup, which goes on in the background.
func backUpNow(v *visit) (answer, error) {
	if v.Backups == nil {
		return answer{data: &backupsData{}}, nil // which it cannot fill in
	}
	return answer{did: "begun"}, v.BackUpNow()
}

// verifyBackup begins to read a backup, which goes on in the background.
func verifyBackup(v *visit) (answer, error) {
	if v.Backups == nil {
		return answer{data: &backupsData{}}, nil // which it cannot fill in
	}
	return answer{did: "verifying", query: map[string][]string{"page": {v.value("page")}}}, v.VerifyBackup(v.value("backup"))
}
