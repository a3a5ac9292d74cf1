// Package settings is what people set on pages: their account, access tokens
// and the apps that may act for them and, for site admins, users, organisations,
// OAuth apps and repositories. Forms come in, from pages of this server only;
// each becomes an operation of httpapi/manage; pages go out in the frame of web,
// with a sidebar.
//
// A section is an entry of the sidebar with its pages, and a page has a template,
// what it shows and the forms on it: all of them are in the table sections. Other
// packages add theirs to Area.More, and answer with Area.Serve.
package settings
