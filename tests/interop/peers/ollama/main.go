// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts a folder with config.json, tokenizer.json and SafeTensors files to GGUF, as Ollama does when a model is
// created from it.
//
//	convert FOLDER FILE.gguf
package main

import (
	"fmt"
	"os"

	"github.com/ollama/ollama/convert"
)

func run(folder, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return convert.ConvertModel(os.DirFS(folder), file)
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
