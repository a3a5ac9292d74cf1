package markdown

import (
	"github.com/yuin/goldmark/ast"
	task "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// taskBoxes renders the boxes of task lists as characters: a text of strangers has no
// fields.
type taskBoxes struct{}

// RegisterFuncs takes boxes from the renderer of the library, which writes fields.
func (taskBoxes) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(task.KindTaskCheckBox, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		box := "☐ "
		if node.(*task.TaskCheckBox).IsChecked {
			box = "☑ "
		}
		_, err := w.WriteString(box)
		return ast.WalkContinue, err
	})
}
