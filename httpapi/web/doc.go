// Package web is the frame around every page. A page's template and data come
// in; an HTML answer goes out, with the bar at the top, the style, and a policy
// that lets nothing run but the scripts of this package. The style and the
// scripts are served from the binary, below a path that changes with them, so
// that browsers keep them for good.
//
// Handlers of httpapi and of the packages beside this one call it. It knows the
// signed-in user and nothing else: no repositories, no settings, no searches.
package web
