// SPDX-License-Identifier: LGPL-2.1-or-later
//! The least that a Rust program does to predict over HTTP: coefficients 1 to 10 and the intercept 0.5.
//!
//! Usage: serve PORT

use axum::{routing::post, Json, Router};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct One {
    features: Vec<f64>,
}

#[derive(Deserialize)]
struct Many {
    features: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct Answer<T> {
    prediction: T,
}

fn predict(features: &[f64]) -> f64 {
    features.iter().enumerate().map(|(i, x)| (i as f64 + 1.0) * x).sum::<f64>() + 0.5
}

async fn one(Json(request): Json<One>) -> Json<Answer<f64>> {
    Json(Answer { prediction: predict(&request.features) })
}

async fn many(Json(request): Json<Many>) -> Json<Answer<Vec<f64>>> {
    Json(Answer { prediction: request.features.iter().map(|row| predict(row)).collect() })
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
    let app = Router::new().route("/predict", post(one)).route("/batch", post(many));
    axum::serve(listener, app).await.unwrap();
}
