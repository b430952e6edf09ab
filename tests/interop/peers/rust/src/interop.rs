// SPDX-License-Identifier: LGPL-2.1-or-later
//! What the Rust crates make of a file. Numbers go in and out as little-endian float32; an error goes to the
//! standard error, with status 1.
//!
//!     interop safetensors FILE COPY       reads all tensors and the metadata, lists them, and writes them again
//!     interop aprender-load FILE X        loads a model: its coefficients, intercept, and predictions for X
//!     interop aprender-fit X Y FILE       fits a model and saves it: the same for X
//!     interop realizar FILE NAME...       the tensors of these names

use std::error::Error;
use std::io::Write;

use aprender::prelude::*;
use realizar::safetensors::SafetensorsModel;
use safetensors::SafeTensors;

fn read_floats(path: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

fn write_floats(values: &[f32]) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Ok(std::io::stdout().write_all(&bytes)?)
}

fn make_matrix(values: Vec<f32>, n_columns: usize) -> Result<Matrix<f32>, Box<dyn Error>> {
    Ok(Matrix::from_vec(values.len() / n_columns, n_columns, values)?)
}

fn write_model(model: &LinearRegression, x: &Matrix<f32>) -> Result<(), Box<dyn Error>> {
    write_floats(model.coefficients().as_slice())?;
    write_floats(&[model.intercept()])?;
    write_floats(model.predict(x).as_slice())
}

fn copy(path: &str, copy: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (_, header) = SafeTensors::read_metadata(&bytes)?;
    let file = SafeTensors::deserialize(&bytes)?;
    for (name, tensor) in file.iter() {
        let data: String = tensor.data().iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{name}\t{}\t{:?}\t{data}", tensor.dtype(), tensor.shape());
    }
    safetensors::serialize_to_file(file.tensors(), header.metadata().clone(), copy.as_ref())?;
    Ok(())
}

fn load(path: &str, x: &str) -> Result<(), Box<dyn Error>> {
    let model = LinearRegression::load_safetensors(path)?;
    write_model(&model, &make_matrix(read_floats(x)?, model.coefficients().len())?)
}

fn fit(x: &str, y: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let y = read_floats(y)?;
    let x = read_floats(x)?;
    let n_columns = x.len() / y.len();
    let x = make_matrix(x, n_columns)?;
    let mut model = LinearRegression::new();
    model.fit(&x, &Vector::from_vec(y)).map_err(|error| error.to_string())?;
    model.save_safetensors(path)?;
    write_model(&model, &x)
}

fn get_tensors(path: &str, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let model = SafetensorsModel::from_bytes(&std::fs::read(path)?)?;
    for name in names {
        write_floats(&model.get_tensor_auto(name)?)?;
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["safetensors", path, target] => copy(path, target),
        ["aprender-load", path, x] => load(path, x),
        ["aprender-fit", x, y, path] => fit(x, y, path),
        ["realizar", path, names @ ..] => get_tensors(path, names),
        _ => Err("no such command".into()),
    };
    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
