#pragma once
// A page of pictures by cluster: one file that needs nothing else.

#include <string>
#include <vector>

namespace cpl {

struct ClusterPage {
  std::string title, words;
  std::string sprite;  // "data:image/jpeg;base64,..."
  int tile = 32, columns = 50;

  struct Cluster {
    std::string heading;     // "code 17: 120 images, 83 % cat"
    std::vector<int> tiles;  // indices into the sprite
  };
  std::vector<Cluster> clusters;
};

std::string cluster_page_html(const ClusterPage& page);

}  // namespace cpl
