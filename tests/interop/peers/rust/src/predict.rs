// SPDX-License-Identifier: LGPL-2.1-or-later
use realizar::safetensors::SafetensorsModel;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = SafetensorsModel::from_bytes(&std::fs::read("realizar.safetensors")?)?;
    let coefficients = model.get_tensor_auto("coefficients")?;
    let intercept = model.get_tensor_auto("intercept")?[0];

    let features = [1.0, 2.0, 3.0];
    let terms = coefficients.iter().zip(features).map(|(weight, value)| weight * value);
    println!("{:?}", terms.sum::<f32>() + intercept);
    Ok(())
}
