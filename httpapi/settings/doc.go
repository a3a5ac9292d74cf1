// Package settings is what people set on pages: their account, access tokens
// and the apps that may act for them and, for site admins, users, organisations,
// OAuth apps and repositories. Forms come in, from pages of this server only;
// changes go to the registry and the book of apps, each with its line of the
// audit log; pages go out in the frame of web, with a sidebar.
//
// A section is an entry of the sidebar and the routes behind it. Other packages
// add theirs to Area.More, and answer with Area.Serve.
package settings
