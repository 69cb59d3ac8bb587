#pragma once
// Paley's Hadamard matrices of order q + 1 for the primes q = 11 and 19 (both 3 mod 4), normalised
// so that the first row and the first column are positive.

namespace cpl::simd {

template <int Base>
struct PaleyMatrix {
  bool negative[Base][Base] = {};
};

template <int Base>
constexpr PaleyMatrix<Base> make_paley() {
  constexpr int q = Base - 1;
  PaleyMatrix<Base> m;
  bool is_square[Base] = {};
  for (int a = 1; a < q; ++a) is_square[a * a % q] = true;
  // [1, 1'; 1, S - I] with S_ij = +1 where i - j is a non-zero square mod q, -1 where it is not.
  for (int i = 1; i < Base; ++i) {
    for (int j = 1; j < Base; ++j) {
      const int difference = ((i - j) % q + q) % q;
      m.negative[i][j] = difference == 0 || !is_square[difference];
    }
  }
  return m;
}

template <int Base>
inline constexpr PaleyMatrix<Base> kPaley = make_paley<Base>();

}  // namespace cpl::simd
