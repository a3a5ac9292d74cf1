package markdown

import (
	"bytes"
	"html/template"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// placed makes clean HTML fit into a page: each element is closed, headings lie below
// those of the page, and links and images lead to where the repository has them.
func placed(clean io.Reader, links Links) (template.HTML, error) {
	nodes, err := html.ParseFragment(clean, &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", ErrTooLarge // the parser refuses nothing but depth
	}
	p := placer{links: links, ids: map[string]bool{}}
	var out bytes.Buffer
	for _, n := range nodes {
		p.place(n)
		if err := html.Render(&out, n); err != nil {
			return "", err
		}
		if out.Len()-p.added > maxHTML {
			return "", ErrTooLarge
		}
	}
	return template.HTML(out.String()), nil
}

// placer changes the nodes of a text.
type placer struct {
	links Links
	// ids are those that were met: each stays once.
	ids map[string]bool
	// added is how many bytes of HTML colours take.
	added int
}

// place changes a node and those in it, which nest 512 deep at most.
func (p *placer) place(n *html.Node) {
	if n.Type == html.ElementNode {
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			p.heading(n)
		case atom.A:
			p.link(n)
		case atom.Img:
			p.image(n)
		case atom.Code:
			p.code(n)
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		p.place(child)
	}
}

// lower are the headings two levels below.
var lower = map[atom.Atom]atom.Atom{atom.H1: atom.H3, atom.H2: atom.H4, atom.H3: atom.H5, atom.H4: atom.H6, atom.H5: atom.H6, atom.H6: atom.H6}

func (p *placer) heading(n *html.Node) {
	n.DataAtom = lower[n.DataAtom]
	n.Data = n.DataAtom.String()
	if id := get(n, "id"); id != "" && (p.ids[id] || len(id) > maxID+16) {
		set(n, "id", "")
	} else {
		p.ids[id] = true
	}
}

// link leads to a page of this server, or elsewhere, or nowhere.
func (p *placer) link(n *html.Node) {
	dest := get(n, "href")
	u, err := url.Parse(dest)
	switch {
	case err != nil || dest == "":
		set(n, "href", "")
	case u.Scheme != "":
		// the policy has seen to it
	case u.Host != "" || strings.HasPrefix(dest, "//"):
		set(n, "href", "")
	case u.Path == "":
		set(n, "href", "#"+idPrefix+strings.ToLower(u.Fragment))
	default:
		to := p.within(u.Path)
		if to != "" && u.Fragment != "" {
			to += "#" + fragment(u)
		}
		set(n, "href", to)
	}
}

// lineFragment is a fragment that names lines of a file.
var lineFragment = regexp.MustCompile(`^L[0-9]+(-L?[0-9]+)?$`)

// fragment is the fragment of a link to another file, whose headings have ids like those
// here if it is Markdown.
func fragment(u *url.URL) string {
	if IsName(u.Path) && !lineFragment.MatchString(u.Fragment) {
		heading := url.URL{Fragment: idPrefix + strings.ToLower(u.Fragment)}
		return heading.EscapedFragment()
	}
	return u.EscapedFragment()
}

// within is the address of a path of the repository, "" for one that leads out of it.
func (p *placer) within(dest string) string {
	at, ok := p.resolve(dest)
	if !ok {
		return ""
	}
	return p.links.File(at)
}

// maxPath is how long a path is that a link leads to.
const maxPath = 4 << 10

func (p *placer) resolve(dest string) (at string, ok bool) {
	if rooted, is := strings.CutPrefix(dest, "/"); is {
		at = path.Join(rooted)
	} else {
		at = path.Join(p.links.Dir, dest)
	}
	if at == "." {
		at = ""
	}
	return at, at != ".." && !strings.HasPrefix(at, "../") && !strings.ContainsAny(at, "\x00") && len(at) <= maxPath
}

// image shows an image of the repository. One from elsewhere becomes a link: the
// browser of a reader tells no other server what is read here.
func (p *placer) image(n *html.Node) {
	src := get(n, "src")
	u, err := url.Parse(src)
	words := get(n, "alt")
	if err == nil && u.Scheme == "" && u.Host == "" && u.Path != "" && !strings.HasPrefix(src, "//") {
		if at, ok := p.resolve(u.Path); ok && at != "" {
			if words == "" {
				words = path.Base(at)
			}
			n.Attr = append(keep(n, "title", "width", "height", "align"), html.Attribute{Key: "src", Val: p.links.Image(at)}, html.Attribute{Key: "alt", Val: words}, html.Attribute{Key: "loading", Val: "lazy"})
			return
		}
	}
	if words == "" {
		words = "image"
	}
	text := &html.Node{Type: html.TextNode, Data: words}
	*n = html.Node{Type: html.ElementNode, DataAtom: atom.Span, Data: "span", Parent: n.Parent, PrevSibling: n.PrevSibling, NextSibling: n.NextSibling}
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && !inLink(n) {
		n.DataAtom, n.Data = atom.A, "a"
		n.Attr = []html.Attribute{{Key: "href", Val: src}, {Key: "rel", Val: "nofollow noreferrer"}}
	}
	n.AppendChild(text)
}

// languageClass begins the class that names the language of code.
const languageClass = "language-"

// code colours a block of code that is text and nothing else.
func (p *placer) code(n *html.Node) {
	language, named := strings.CutPrefix(get(n, "class"), languageClass)
	set(n, "class", "")
	text := n.FirstChild
	if !named || p.links.Code == nil || n.Parent == nil || n.Parent.DataAtom != atom.Pre || text == nil || text.Type != html.TextNode || text.NextSibling != nil {
		return
	}
	pieces := p.links.Code(language, text.Data)
	rest := text.Data
	for _, piece := range pieces {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, piece.Text); !ok {
			return
		}
	}
	if rest != "" {
		return
	}
	n.RemoveChild(text)
	for _, piece := range pieces {
		child := &html.Node{Type: html.TextNode, Data: piece.Text}
		if piece.Class != "" {
			span := &html.Node{Type: html.ElementNode, DataAtom: atom.Span, Data: "span", Attr: []html.Attribute{{Key: "class", Val: piece.Class}}}
			span.AppendChild(child)
			child = span
			p.added += len(`<span class=""></span>`) + len(piece.Class)
		}
		n.AppendChild(child)
	}
}

func inLink(n *html.Node) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.A {
			return true
		}
	}
	return false
}

func get(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// set changes an attribute, and takes it away for "".
func set(n *html.Node, key, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = value
			if value == "" {
				n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			}
			return
		}
	}
}

func keep(n *html.Node, keys ...string) []html.Attribute {
	var out []html.Attribute
	for _, a := range n.Attr {
		for _, key := range keys {
			if a.Key == key {
				out = append(out, a)
			}
		}
	}
	return out
}
