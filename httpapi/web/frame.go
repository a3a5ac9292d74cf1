package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed frame.html
var frameFile embed.FS

// Templates are the pages of a package by file name. A page is parsed when it is first
// rendered: programs that serve none do not wait for it.
type Templates map[string]func() *template.Template

// NewTemplates returns the templates that are files *.html of a folder. Each defines
// "title", without the name of the product, and "main", which both are given a
// Frame. Files that begin with an underscore define what others share.
func NewTemplates(files fs.FS, folder string, more template.FuncMap) Templates {
	all := Templates{}
	names, err := fs.Glob(files, path.Join(folder, "*.html"))
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("web: no templates in %s: %v", folder, err))
	}
	shared := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return path.Base(n)[0] != '_' })
	for _, name := range names {
		if slices.Contains(shared, name) {
			continue
		}
		all[path.Base(name)] = sync.OnceValue(func() *template.Template {
			t := template.Must(template.New("frame.html").Funcs(funcs).Funcs(more).ParseFS(frameFile, "frame.html"))
			return template.Must(t.ParseFS(files, append(slices.Clone(shared), name)...))
		})
	}
	return all
}

// View is a page to answer with.
type View struct {
	// Page is the file name of the template.
	Page string
	// Status is 0 for 200.
	Status int
	// Base is what paths of this server begin with, "" mostly.
	Base string
	// Users says that people can sign in here.
	Users bool
	// Here is the path of the link that leads to this page.
	Here string
	// Side is the sidebar, nil for none.
	Side []Group
	// Scripts and Styles name assets that the page needs besides the style of
	// all. Scripts are modules unless they are named in Classic.
	Scripts, Classic, Styles []string
	// Wide uses the whole width of the window.
	Wide bool
	// Compress has the page compressed for clients that take that. A page with a secret
	// is not: its size would tell of the secret to who can put text beside it.
	Compress bool
	// Reflected says that the page shows text of its address beside what only its reader
	// may see. Compressed, its size tells how much of that text stands elsewhere in it (the
	// attack BREACH). It leaves as it is if another site may have led the browser of a
	// signed-in user there, and chosen the text.
	Reflected bool
	// Policy adds to or replaces directives of the policy, by name.
	Policy map[string]string
	Data   any
}

// Group is a part of a sidebar.
type Group struct {
	Title string
	Links []Link
}

// Link leads to a page of this server.
type Link struct{ Title, Path string }

// Frame is the data of a template.
type Frame struct {
	View
	// User is the name of the signed-in user, "" if there is none.
	User      string
	SiteAdmin bool
	// Nonce is what the policy knows this answer's scripts and styles by.
	Nonce, Version string
}

// Asset returns the path of an asset.
func (f Frame) Asset(name string) string { return f.Base + AssetPath + f.Version + "/" + name }

// Modules are what the scripts of the page import, also by way of others: a browser that
// knows of them asks for all at once.
func (f Frame) Modules() []string { return imported(f.Scripts) }

// policies are the directives of every page. A script or style is only taken
// by the nonce of its answer, so that nothing that was slipped into a page, or
// into a file that is shown here, is one.
func (f Frame) policies() map[string]string {
	nonce := "'nonce-" + f.Nonce + "'"
	all := map[string]string{
		"default-src": "'none'", "base-uri": "'none'", "frame-ancestors": "'none'", "form-action": "'self'",
		"script-src": nonce, "style-src": nonce, "img-src": "'self'", "connect-src": "'self'",
	}
	for name, value := range f.Policy {
		all[name] = value
		if name == "script-src" || name == "style-src" {
			all[name] = nonce + " " + value
		}
	}
	return all
}

func (f Frame) policy() string {
	var out strings.Builder
	all := f.policies()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			out.WriteString("; ")
		}
		out.WriteString(name + " " + all[name])
	}
	return out.String()
}

// funcs are the functions of all templates: they format times and numbers.
var funcs = template.FuncMap{
	"number": Number, "count": Count, "prose": prose,
	"day":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
	"moment":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") },
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}
